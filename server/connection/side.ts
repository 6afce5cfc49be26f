// The two sides of the API, which may have a port each.

/** The part of the API that a listener serves; each may have its own port (`--auth-port`). */
export type Side = "api" | "auth" | "both";

/** The side of a service, by its name within the platform's package. */
export const sideOf = (service: string): Exclude<Side, "both"> => (service.startsWith("oidc.") ? "auth" : "api");
