// LookupGroup: the verified organization named like the e-mail domain of the caller (docs/contract.md#lookup-group). Every
// refusal has the same words, so that no caller can find out which organizations exist.
import { ApiError, notFound } from "../../schema/index.ts";
import { shapes } from "../store/shape.ts";
import type { Row } from "../store/store.ts";
import type { ServiceContext } from "./context.ts";
import { groupFrom } from "./group.ts";
import type { ServiceMethods } from "./service.ts";

// They verify an address before they put it into a token. With `--dev`, so does the development issuer.
const ISSUERS = ["https://accounts.google.com", "https://auth.chainguard.dev/"];

// Anyone can have an address there, so it does not show where its holder belongs.
const PUBLIC_DOMAINS = [
  "aol.com",
  "gmail.com",
  "gmx.com",
  "googlemail.com",
  "hotmail.com",
  "icloud.com",
  "live.com",
  "mail.com",
  "outlook.com",
  "proton.me",
  "protonmail.com",
  "yahoo.com",
];

export const lookupGroupService = {
  LookupGroup: (_, context) => {
    const domain = domainOf(context);
    const [only, ...others] = domain ? verifiedRoots(context, domain) : [];
    if (!only || others.length > 0) throw missing();
    return { group: groupFrom(context.store, only) };
  },
} satisfies ServiceMethods;

const missing = (): ApiError => {
  const { details } = notFound("Group", "");
  return new ApiError("NOT_FOUND", "Not found: there is no group for the e-mail domain of the caller", { details });
};

const domainOf = ({ caller, identityRules }: ServiceContext): string | undefined => {
  const { actorIssuer = "", email = "", emailVerified } = caller.token();
  if (!emailVerified || (!ISSUERS.includes(actorIssuer) && actorIssuer !== identityRules.devIssuer)) return undefined;
  const at = email.lastIndexOf("@");
  if (at < 1) return undefined;
  const domain = email.slice(at + 1).toLowerCase();
  return PUBLIC_DOMAINS.includes(domain) ? undefined : domain;
};

const verifiedRoots = ({ store }: ServiceContext, name: string): Row[] =>
  store
    .statement("SELECT uid FROM groups WHERE parent IS NULL AND name = ?")
    .all(name)
    .map(({ uid }) => store.get(shapes.group, uid as string) as Row)
    .filter(({ body }) => body.verified);
