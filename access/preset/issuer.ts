// The issuer and the audience that presets take.
import { isIssuer } from "../../schema/index.ts";
import type { PresetField } from "./preset.ts";

/** Issuers are exact: the text that is compared is the address that is fetched. */
export const issuerViolation = (text: string): string | undefined => {
  if (text.includes("*")) return "must name one issuer: * is not allowed here";
  if (isIssuer(text)) return undefined;
  if (/^http:/i.test(text)) return `must be https: https${text.slice("http".length)}`;
  if (!/^[a-z]+:/i.test(text) && isIssuer(`https://${text}`)) return `must be an https URL: https://${text}`;
  return "must be an https URL in its normal form, without user, query or fragment, at most 255 characters";
};

export const issuerField = (description: string): PresetField => ({
  description,
  optional: true,
  violation: issuerViolation,
});

export const audienceField: PresetField = {
  description: "aud of the token; default: what this service accepts by itself",
  optional: true,
};
