// Capabilities as people write them: `groups.list`, the API's `CAP_IAM_GROUPS_LIST`, or a pattern with * for any characters, `*.create`.
import { capabilityFrom, capabilityName } from "../schema/index.ts";

/** The friendly name of a capability that this version knows. */
export const friendlyCapability = (text: string): string | undefined => {
  const known = capabilityFrom(text);
  return known && capabilityName(known);
};

/** Whether a text, which may contain *, means this capability. */
export const matchesCapability = (text: string, capability: string): boolean => {
  const [first = "", ...others] = text.split("*");
  const last = others.pop();
  if (last === undefined) return text === capability;
  const name = friendly(capability);
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (const part of others) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
};

// A newer service has more, which this version knows only by the API's name: CAP_NEW_THINGS_CREATE is new_things.create.
const friendly = (capability: string) =>
  capability.startsWith("CAP_")
    ? capability
        .slice("CAP_".length)
        .toLowerCase()
        .replace(/_(?=[a-z]+$)/, ".")
    : capability;
