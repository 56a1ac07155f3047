# Completion of navctl for fish. navctl itself knows what can follow.
function __navctl_complete
    set -l words (commandline -opc) (commandline -ct)
    for line in (command $words[1] completion fish -- $words[2..-1] 2>/dev/null)
        if test $line = :files
            __fish_complete_path (commandline -ct)
        else
            echo $line
        end
    end
end
complete -c navctl -f -a '(__navctl_complete)'
