// opens-path: an identity could come to hold what it does not hold, by requests that were not possible before.
import { byEffect } from "../danger.ts";
import { textOfList } from "../finding-list.ts";
import { placesOf, type Rule } from "./rule.ts";

export const opensPath: Rule = {
  name: "opens-path",
  find: ({ opened, after }) =>
    [...Map.groupBy(opened, ({ from }) => ("identity" in from ? from.identity : ""))].map(([subject, paths]) => {
      const shown = paths.find(({ assumes }) => assumes === "strict") ?? paths[0];
      const { gains = [], steps = [], assumes = "cautious" } = shown ?? {};
      const capabilities = [...new Set(gains.map(({ capability }) => capability))].sort(byEffect);
      const rest = capabilities.length - CAPABILITIES_SHOWN;
      const list = capabilities.slice(0, CAPABILITIES_SHOWN).join(", ") + (rest > 0 ? ` and ${rest} more` : "");
      const places = placesOf(
        after,
        gains.map(({ group }) => group),
      );
      const others = paths.length > 1 ? [`${paths.length - 1} more of its paths open`] : [];
      const items = [...steps.map(({ why }) => why), ...others];
      return { subject, ...textOfList(`could come to hold ${list} at ${places} (${assumes}):`, items) };
    }),
};

const CAPABILITIES_SHOWN = 5;
