# What a developer, a packager and CI run. `make help` lists the targets.

SHELL := /bin/bash
.DEFAULT_GOAL := help
# The steps of `test` go in the order written; the compiler brings its own parallelism.
.NOTPARALLEL:

# Two jobs fit the smallest machine this is built on; override on a larger one.
JOBS ?= 2
SWIFT ?= swift

# Debian's packages by purpose. Each target installs its own, and prints them before: see .ci/deps.
# To build: the C libraries. `make deps` installs these.
BUILD_PACKAGES := libzmq3-dev libsqlite3-dev libsystemd-dev zlib1g-dev libxxhash-dev \
  libmicrohttpd-dev libncurses-dev libpq-dev
# The bundler of the client for pages.
WEB_PACKAGES := esbuild
# The bundler of the inspector's page, the charts that are in it, and what makes one file of it.
INSPECTOR_PACKAGES := $(WEB_PACKAGES) libjs-chart.js python3
# What the QML module is built with.
QML_BUILD_PACKAGES := cmake g++ pkg-config qt6-base-dev qt6-declarative-dev
MAN_PACKAGES := scdoc
# To show: the demonstration in the terminal, and that of a cluster.
SHOW_PACKAGES := python3
FONT_PACKAGES := fonts-inter-variable woff2
CLUSTER_PACKAGES := postgresql
# To test: the built programs, as other programs meet them.
TEST_PACKAGES := gcc libc6-dev curl python3 python3-zmq strace iproute2 nftables zsh fish $(CLUSTER_PACKAGES) pgbouncer $(MAN_PACKAGES)
# A terminal, and a validator of schemas.
TERMINAL_PACKAGES := tmux python3-jsonschema
# The browser of the tests, what drives it and its peers, and the compiler that checks the types of the module.
BROWSER_PACKAGES := chromium chromium-headless-shell chromium-driver python3-selenium python3-zmq nodejs node-typescript $(FONT_PACKAGES) $(INSPECTOR_PACKAGES)
# axe-core, which no package of Debian has, is a file in this one.
AXE_PACKAGES := python3-pip pypi:axe-playwright-python==0.1.8@sha256:fdd263c998388f1a8e67cad02677e612d946248bd44d163be5e8650ea31f95f8
# What checks the types of the Python client, and builds its wheel.
PYTHON_PACKAGES := python3-zmq mypy python3-build python3-setuptools python3-venv python3-wheel
# The proxies that stand in front of the gateway.
PROXY_PACKAGES := nginx-light haproxy apache2-bin
# The compilers, the linker, pkg-config, valgrind and the peers of the tests of libnavd.
C_PACKAGES := gcc g++ libc6-dev binutils pkg-config python3-zmq valgrind
QML_PACKAGES := $(QML_BUILD_PACKAGES) qml6-module-qtquick qml6-module-qtquick-window qml6-module-qttest \
  qml6-module-qtqml-models qml6-module-qtqml-workerscript
# A display, a bus and an accessibility registry, and what reads that and shows a program of QML.
ACCESSIBILITY_PACKAGES := xvfb xauth dbus-daemon at-spi2-core gir1.2-atspi-2.0 python3-gi python3-zmq qml-qt6
# What checks the types of the programs of the pages, reads their blocks that cannot run, and renders the man pages.
GUIDE_PACKAGES := $(TEST_PACKAGES) $(WEB_PACKAGES) mypy openssh-client python3-yaml nodejs gcc libc6-dev pkg-config qrencode systemd groff-base
# What the tests of the clients need, and these tests: each runs the built programs.
CLIENT_PACKAGES := $(TERMINAL_PACKAGES) $(PYTHON_PACKAGES) $(C_PACKAGES) $(QML_PACKAGES) $(GUIDE_PACKAGES)
CLIENT_TESTS := Tests/TerminalTests/run Tests/CTests/run Tests/PythonTests/run Tests/GuideTests/run Tests/QmlTests/run
# Those that leave the processors to others when these need them, beside tests with leases.
CALM_TESTS := Tests/QmlTests/run Tests/CTests/run Tests/GuideTests/run
# What renders the pages, man pages and references as a site, and follows its links.
SITE_PACKAGES := python3-sphinx python3-myst-parser furo node-normalize.css esbuild python3-breathe python3-zmq doxygen pandoc linkchecker $(MAN_PACKAGES)
# To package.
PACKAGING_PACKAGES := build-essential debhelper dh-python lintian $(INSPECTOR_PACKAGES) $(MAN_PACKAGES) $(if $(wildcard .build/site.sums),sphinx-common)
# To measure: `make bench` and `make bench-instructions` leave out the workloads of those that are missing.
BENCH_PACKAGES := redis-server valgrind $(CLUSTER_PACKAGES)

# What is installed; `make packages` puts each into the package that debian/*.install names.
PROGRAMS := navd navd-cluster navctl navd-exporter navd-web
# The name of the file that SwiftPM makes, and the names that an installed library has.
LIBRARY := libnavd-c.so
VERSION := $(shell sed -n 's/.*static let version = "\(.*\)"/\1/p' Sources/NavigationDaemon/Daemon.swift)
# release, or debug for packages that the tests boot.
CONFIGURATION ?= release
PACKAGES_DIR ?= .build/packages

# How often `make test-steady` runs the tests.
RUNS ?= 10

# What `make bench` is told, see Benchmarks/README.md.
BENCH_OPTIONS ?=

DESTDIR ?=
PREFIX ?= /usr/local
bindir = $(PREFIX)/bin
sbindir = $(PREFIX)/sbin
datadir = $(PREFIX)/share
libdir = $(PREFIX)/lib
# Where libraries for C are; Debian has a directory for each architecture.
clibdir ?= $(libdir)
includedir = $(PREFIX)/include
mandir = $(datadir)/man
sysconfdir ?= /etc
unitdir ?= $(libdir)/systemd/system

qml_root = $(CURDIR)/.build/qml/$(CONFIGURATION)

swift_paths = Package.swift Sources Tests demo debian/client \
  $(if $(shell find Benchmarks -name '*.swift' -print -quit 2>/dev/null),Benchmarks)
man_sources = $(wildcard man/*.scd)
man_pages = $(man_sources:man/%.scd=.build/man/%)

# Says what runs, then runs it. `.ci/run` measures from one arrow to the next.
step = @echo '==> $(strip $(1))' && $(1)

.PHONY: help deps build release binaries lint format check test calm test-clients test-python test-guides test-postgres test-long torture test-steady demo demo-web demo-cluster bench bench-instructions bench-browser bench-inspector bench-cluster bench-recording bench-flood bench-deps man docc \
  install install-library install-qml qml packages booted clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-20s%s\n", $$1, $$2}' $(MAKEFILE_LIST)

deps: ## Install the Debian packages that a build needs, check the Swift toolchain
	@.ci/deps $(BUILD_PACKAGES)

build: deps ## Build everything, debug
	$(call step,$(SWIFT) build -j $(JOBS))

release: deps ## Build everything, optimised
	$(call step,$(SWIFT) build -c release --static-swift-stdlib --disable-local-rpath -j $(JOBS))

# The programs in the configuration asked for: for debian/rules. With BUILT they are there already, and nothing
# waits for the lock of SwiftPM, which `swift test` holds.
binaries:
	@$(if $(BUILT),,$(MAKE) --no-print-directory $(if $(filter debug,$(CONFIGURATION)),build,release))

lint: ## Check the form of every Swift file
	$(call step,$(SWIFT) format lint --strict --parallel --recursive $(swift_paths))

format: ## Bring every Swift file into form
	$(call step,$(SWIFT) format --in-place --parallel --recursive $(swift_paths))

# A minute after a change: the manifest leaves the other targets out, and what is compiled is that of `make test`.
check: ## The loop of a developer: lint, and the tests of the core, the hub, navd's loop and the client without a daemon
	@.ci/deps $(BUILD_PACKAGES)
	@$(MAKE) --no-print-directory lint
	$(call step,NAVD_CHECK=1 $(SWIFT) build --build-tests -j $(JOBS))
	$(call step,NAVD_CHECK=1 $(SWIFT) test --skip-build --disable-xctest)

# The manifest makes every warning an error. ClientTests wait for tasks, and the laws on random
# sequences occupy the threads of the tasks: beside them ClientTests took 165 s, beside BootedTests 6 s.
# The leases of clusters last some seconds, so those tests too run where the processors are not busy.
# ProcessTests come one after the other: the others give way to them. CI needs no places in sources for
# a debugger, and compiles 330 s without them instead of 374.
test: ## Everything a change must pass: deps, lint, build, all tests
	$(call step,.ci/deps $(BUILD_PACKAGES) $(TEST_PACKAGES))
	@$(MAKE) --no-print-directory lint
	$(call step,$(SWIFT) build --build-tests $(if $(CI),-debug-info-format none) -j $(JOBS))
	$(call step,.ci/docc debug)
	@.ci/deps $(CLIENT_PACKAGES) $(BROWSER_PACKAGES)
	$(call step,.ci/during 'BUILT=1 nice -n 9 Tests/BootedTests/prepare $(PACKAGING_PACKAGES)' .ci/during Tests/ProcessTests/run \
	  nice -n 9 $(SWIFT) test --skip-build --disable-xctest --skip BootedTests --skip ^ClientTests --skip ^ProcessTests)
	$(call step,.ci/during 'nice make --no-print-directory calm' \
	  $(SWIFT) test --skip-build --disable-xctest --filter BootedTests --filter ^ClientTests --filter ^ProcessTests.ProcessTests/ClusterTests/ --filter ClusterLossTests)
	$(call step,.ci/beside Tests/BrowserTests/run $(filter-out $(CALM_TESTS),$(CLIENT_TESTS)))

# For `make test`, beside tests with leases.
calm:
	@$(MAKE) --no-print-directory qml CONFIGURATION=debug
	$(call step,.ci/beside $(CALM_TESTS))

test-clients: build ## The tests of navctl's output, of the clients in Python, C and QML, and of the pages
	@.ci/deps $(CLIENT_PACKAGES)
	@$(MAKE) --no-print-directory qml CONFIGURATION=debug
	$(call step,.ci/beside $(CLIENT_TESTS))

test-python: build ## The tests of the Python client
	@.ci/deps $(PYTHON_PACKAGES)
	$(call step,Tests/PythonTests/run)

test-guides: build ## The commands and programs of the pages, as a reader types them
	@.ci/deps $(GUIDE_PACKAGES)
	$(call step,Tests/GuideTests/run)

# It needs root and apt's mirror; where they are missing, it says so and leaves the server out.
test-postgres: ## The tests of clusters on PostgreSQL 17 and 18, from Debian 13 and sid: minutes
	@.ci/deps $(BUILD_PACKAGES) $(TEST_PACKAGES)
	$(call step,$(SWIFT) build --build-tests -j $(JOBS))
	$(call step,Tests/PostgresServer/run)

test-long: ## The tests that have a longer form, in that form: minutes
	@.ci/deps $(BUILD_PACKAGES) $(TEST_PACKAGES)
	$(call step,$(SWIFT) build --build-tests -j $(JOBS))
	$(call step,NAVD_SIM_SEEDS=10000 $(SWIFT) test --skip-build --disable-xctest --filter SimulationTests)
	$(call step,NAVD_TEST_LONG=1 $(SWIFT) test --skip-build --disable-xctest --filter ConnectionCountTests --filter ClusterLossTests --filter ClusterHistoryTests --filter PowerCutTests --filter FailedReadTests)
	@$(MAKE) --no-print-directory test-postgres
	@.ci/deps $(BROWSER_PACKAGES) $(PROXY_PACKAGES) $(AXE_PACKAGES)
	$(call step,JOBS=1 NAVD_TEST_LONG=1 Tests/BrowserTests/run)
	$(call step,Tests/BrowserTests/faults)
	@.ci/deps $(QML_PACKAGES) $(ACCESSIBILITY_PACKAGES)
	@$(MAKE) --no-print-directory qml CONFIGURATION=debug
	$(call step,NAVD_TEST_LONG=1 Tests/QmlTests/run)

# RUNS=10 times; each run takes about twice as long as without load.
# `make torture HOURS=0.1` is the least that says something. The clusters and cuts need root, and the clusters PostgreSQL.
HOURS ?= 1
TORTURE_PACKAGES := spin gcc xfsprogs btrfs-progs
torture: ## Try every fault for HOURS, and add what was tried to Tests/Torture/tally.tsv
	@.ci/deps $(BUILD_PACKAGES) $(TEST_PACKAGES) $(TORTURE_PACKAGES)
	$(call step,NAVD_TORTURE=1 $(SWIFT) build --build-tests -j $(JOBS))
	$(call step,NAVD_TORTURE=1 $(SWIFT) build --product torture -j $(JOBS))
	$(call step,Tests/Torture/run --hours $(HOURS))

test-steady: booted ## ProcessTests, DaemonTests, TransportGuardTests and BootedTests under load, RUNS times
	@.ci/deps $(BUILD_PACKAGES) $(TEST_PACKAGES)
	$(call step,$(SWIFT) build --build-tests -j $(JOBS))
	$(call step,.ci/steady $(RUNS))

# What `swift test --filter BootedTests` boots: a Debian root, made once, and packages of the debug
# build. Needs root and apt's mirror; where they are missing the tests say so and are left out.
booted: ## Prepare the tests under a real service manager, in .build/booted
	$(call step,Tests/BootedTests/prepare $(PACKAGING_PACKAGES))

# About a minute after `make booted`; another one when its root is made. PACKAGES_DIR=.build/packages tests those of a release build.
.PHONY: autopkgtest
autopkgtest: booted ## Run debian/tests on a booted machine, as root
	$(call step,debian/autopkgtest $(if $(filter command line,$(origin PACKAGES_DIR)),$(PACKAGES_DIR)))

demo: release ## Build for release and run the demonstration
	@.ci/deps $(SHOW_PACKAGES)
	$(call step,demo/run)

demo-web: release ## Build for release and show the kiosk in a browser; DEMO_SCRIPT=1 plays it
	@.ci/deps $(SHOW_PACKAGES) $(WEB_PACKAGES) $(FONT_PACKAGES)
	@test -z "$(DEMO_SCRIPT)" || .ci/deps $(BROWSER_PACKAGES)
	$(call step,demo/web)

bench: release ## Build for release and measure; BENCH_OPTIONS=--quick takes minutes
	$(call step,.build/release/bench $(BENCH_OPTIONS))

# On any machine the same, but for the build: count again where the compiler or a library changes.
bench-instructions: release ## Count instructions by stage, fail where there are more than the limits
	$(call step,.build/release/bench instructions --check Benchmarks/instructions.txt)

# The machine should have nothing else to do.
bench-browser: release ## Measure pages in a headless browser, beside a client of libzmq
	@.ci/deps $(BROWSER_PACKAGES)
	$(call step,Benchmarks/browser/measure)

# MINUTES=60 watches the memory of a page for an hour, 5 by default; the machine should have nothing else to do.
bench-inspector: release inspector ## Measure the inspector in a headless browser, and what it costs writers
	@.ci/deps $(BROWSER_PACKAGES)
	$(call step,Benchmarks/inspector/measure)
	$(call step,Benchmarks/recording/measure)

bench-recording: release ## Measure recording, proof and size of a million revisions
	$(call step,Benchmarks/recording/measure)

# ROUNDS=20 take about five minutes; the machine should have nothing else to do.
bench-cluster: release ## Measure how long clients of a cluster wait after a loss or a move
	@.ci/deps $(CLUSTER_PACKAGES)
	$(call step,Benchmarks/cluster/measure $(ROUNDS))

# Two users are needed, so root runs it, about four minutes; the machine should have nothing else to do.
bench-flood: release ## Measure what floods of one user do to another, and to navd's memory
	$(call step,Benchmarks/flood/measure)

bench-deps: ## Install the programs that navd is measured beside, and with
	@.ci/deps $(BENCH_PACKAGES)

man: man-deps $(man_pages) ## Make the man pages, into .build/man

.PHONY: man-deps
man-deps:
	@.ci/deps $(MAN_PACKAGES)

.build/man/%: man/%.scd
	@mkdir -p $(@D)
	scdoc <$< >$@.partial
	@mv $@.partial $@

# Serve the directory to read it: python3 -m http.server --directory .build/docc/NavigationClient.doccarchive
docc: binaries ## Build the API documentation of the Swift library, into .build/docc
	$(call step,.ci/docc $(CONFIGURATION))

.PHONY: site
site: binaries ## Build the site of all pages and references, into .build/site
	@.ci/deps $(SITE_PACKAGES)
	$(call step,site/build $(CONFIGURATION))

.PHONY: web
web: ## Build the client for pages, into .build/web
	@.ci/deps $(WEB_PACKAGES)
	$(call step,web/client/build)

.PHONY: inspector
inspector: web ## Build the page of the inspector, into .build/inspector
	@.ci/deps $(INSPECTOR_PACKAGES)
	$(call step,web/inspector/build)

demo-cluster: release ## Show three daemons on one database, with fail-overs
	@.ci/deps $(CLUSTER_PACKAGES)
	$(call step,demo/cluster)

# Installs what `make release inspector man` has built, so that nothing is compiled as root. A configuration
# file that is already there is the administrator's and stays.
install: install-library ## Install into DESTDIR and PREFIX what `make release inspector man` has built
	@for file in $(PROGRAMS:%=.build/$(CONFIGURATION)/%) $(man_pages) .build/inspector/index.html .build/web/navigation-client.js; do \
	  test -e $$file || { echo 'Run `make release inspector man` first.' >&2; exit 1; }; \
	done
	install -d $(DESTDIR)$(bindir) $(DESTDIR)$(unitdir) $(DESTDIR)$(libdir)/systemd/user
	install -m 755 $(PROGRAMS:%=.build/$(CONFIGURATION)/%) $(DESTDIR)$(bindir)
	@set -e; for unit in systemd/*.service systemd/*.socket systemd/user/*; do \
	  case $$unit in systemd/user/*) to=$(libdir)/systemd/user ;; *) to=$(unitdir) ;; esac; \
	  echo "$$unit -> $(DESTDIR)$$to"; \
	  sed -E -e 's,^(Exec[A-Za-z]*=[-@:+!]*)[^ ]*/(nav(d|ctl)[a-z-]*)( .*)?$$,\1$(bindir)/\2\4,' \
	    -e 's,/etc/(navd|default)/,$(sysconfdir)/\1/,g; s,/usr/share/javascript/,$(datadir)/javascript/,g' \
	    "$$unit" >$(DESTDIR)$$to/$${unit##*/}; \
	  chmod 644 $(DESTDIR)$$to/$${unit##*/}; \
	done
	install -d $(DESTDIR)$(sbindir) $(DESTDIR)$(datadir)/navd
	sed -e 's,/usr/share/navd/,$(datadir)/navd/,g; s,/etc/navd/,$(sysconfdir)/navd/,g' \
	  systemd/navd-tcp >$(DESTDIR)$(sbindir)/navd-tcp
	chmod 755 $(DESTDIR)$(sbindir)/navd-tcp
	sed -e 's,/etc/navd/,$(sysconfdir)/navd/,g' systemd/navd-tcp.conf \
	  >$(DESTDIR)$(datadir)/navd/navd-tcp.conf
	chmod 644 $(DESTDIR)$(datadir)/navd/navd-tcp.conf
	for users in systemd/*.sysusers; do \
	  install -D -m 644 "$$users" $(DESTDIR)$(libdir)/sysusers.d/$$(basename "$$users" .sysusers).conf || exit 1; \
	done
	install -D -m 644 systemd/navd.tmpfiles $(DESTDIR)$(libdir)/tmpfiles.d/navd.conf
	test -e $(DESTDIR)$(sysconfdir)/navd/navd.conf || \
	  install -D -m 644 config/navd.conf $(DESTDIR)$(sysconfdir)/navd/navd.conf
	test -e $(DESTDIR)$(sysconfdir)/navd/navd.conf.d/navd-web.conf || \
	  install -D -m 644 config/navd-web.conf $(DESTDIR)$(sysconfdir)/navd/navd.conf.d/navd-web.conf
	test -e $(DESTDIR)$(sysconfdir)/navd/navd.conf.d/navd-inspector.conf || \
	  install -D -m 644 config/navd-inspector.conf $(DESTDIR)$(sysconfdir)/navd/navd.conf.d/navd-inspector.conf
	install -D -m 644 -t $(DESTDIR)$(datadir)/navd/inspector .build/inspector/*
	test -e $(DESTDIR)$(sysconfdir)/default/navd-web || \
	  install -D -m 644 systemd/navd-web.default $(DESTDIR)$(sysconfdir)/default/navd-web
	install -D -m 644 -t $(DESTDIR)$(datadir)/javascript/navd \
	  .build/web/navigation-client.js .build/web/navigation-client.d.ts
	install -d $(DESTDIR)$(datadir)/bash-completion/completions $(DESTDIR)$(datadir)/zsh/vendor-completions \
	  $(DESTDIR)$(datadir)/fish/vendor_completions.d
	.build/$(CONFIGURATION)/navctl completion bash >$(DESTDIR)$(datadir)/bash-completion/completions/navctl
	.build/$(CONFIGURATION)/navctl completion zsh >$(DESTDIR)$(datadir)/zsh/vendor-completions/_navctl
	.build/$(CONFIGURATION)/navctl completion fish >$(DESTDIR)$(datadir)/fish/vendor_completions.d/navctl.fish
	for page in $(man_pages); do \
	  install -D -m 644 "$$page" $(DESTDIR)$(mandir)/man$${page##*.}/$${page##*/} || exit 1; \
	done
	echo .so man8/navd-web.8 >$(DESTDIR)$(mandir)/man8/navd-inspector.8

# Needs libnavd of the same configuration, `make release` or `make build`.
qml: ## Build the QML module, into .build/qml
	@.ci/deps $(QML_BUILD_PACKAGES)
	@$(MAKE) --no-print-directory --silent install-library DESTDIR= PREFIX=$(qml_root)/prefix clibdir=$(qml_root)/prefix/lib
	$(call step,cmake -S qml -B $(qml_root)/build -DCMAKE_BUILD_TYPE=$(if $(filter debug,$(CONFIGURATION)),Debug,Release) -DQML_DIRECTORY=qt6/qml \
	  -DCMAKE_PREFIX_PATH=$(qml_root)/prefix --log-level=WARNING)
	$(call step,cmake --build $(qml_root)/build -j $(JOBS) -- --quiet)

install-qml: ## Install the QML module that `make qml` has built
	DESTDIR=$(DESTDIR) cmake --install $(qml_root)/build --prefix $(clibdir)

install-library: ## Install libnavd alone, with its header and its file for pkg-config
	@test -e .build/$(CONFIGURATION)/$(LIBRARY) || { echo 'Run `make release` first.' >&2; exit 1; }
	install -D -m 644 .build/$(CONFIGURATION)/$(LIBRARY) $(DESTDIR)$(clibdir)/libnavd.so.$(VERSION)
	ln -sf libnavd.so.$(VERSION) $(DESTDIR)$(clibdir)/libnavd.so.0
	ln -sf libnavd.so.0 $(DESTDIR)$(clibdir)/libnavd.so
	install -D -m 644 -t $(DESTDIR)$(includedir) Sources/CNavd/include/navd.h
	install -d $(DESTDIR)$(clibdir)/pkgconfig
	sed -e 's,@PREFIX@,$(PREFIX),; s,@LIBDIR@,$(clibdir),; s,@VERSION@,$(VERSION),' \
	  Sources/NavdC/navd.pc.in >$(DESTDIR)$(clibdir)/pkgconfig/navd.pc
	chmod 644 $(DESTDIR)$(clibdir)/pkgconfig/navd.pc

# debian/rules calls back for `binaries`, `man` and `install`. Lintian's errors and warnings fail.
packages: ## Build the Debian packages, into .build/packages
	@.ci/deps $(BUILD_PACKAGES) $(PACKAGING_PACKAGES) $(if $(filter debug,$(CONFIGURATION)),,$(QML_BUILD_PACKAGES))
	$(call step,debian/build $(CONFIGURATION) $(PACKAGES_DIR))
ifneq ($(CONFIGURATION),debug)
	$(call step,debian/check-client $(PACKAGES_DIR))
	@.ci/deps $(C_PACKAGES)
	$(call step,debian/check-library $(PACKAGES_DIR))
endif

clean: ## Remove what was built
	rm -rf .build
