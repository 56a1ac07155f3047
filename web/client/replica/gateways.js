/** The maximum number of navs whose gateways a client remembers. */
export const MAXIMUM_ROUTES = 4096;

/** The address of a gateway in one form, so that two forms of it are not two gateways. */
export function addressOf(url) { return new URL(url, location.href).href.replace(/\/+$/, ""); }

/** The address of the gateway that a daemon names; null if a page cannot use it. */
export function gatewayAddress(web) {
  if (typeof web !== "string" || !/^https?:\/\//.test(web) || !URL.canParse(web)) return null;
  return addressOf(web);
}
