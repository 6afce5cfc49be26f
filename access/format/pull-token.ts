// Pull tokens in the parts that people read.

import { byEffect } from "../graph/danger.ts";
import type { Live } from "../graph/live.ts";
import { holdsPullsAlone, isUsed, type PullToken } from "../query/pull-tokens.ts";
import { type Document, line, type Part, quotedItems, say, section } from "./document/document.ts";
import { countText, HIDES, hiddenLines, organizationPartsOf } from "./words.ts";

const MORE_SHOWN = 5;

/** `ci is registry.pull at platform; 12 days old, last seen 2026-01-20T…, ends 2026-02-20T…, within 30 days` */
export const pullTokenParts = (token: PullToken): Part[] => {
  const { name, role, groupName, ageDays, lastSeen, created, expires, state } = token;
  const age = ageDays === null ? "age not known" : `${countText(ageDays, "day")} old`;
  return [
    ...say`${name}${role === null ? [" has no role, in "] : say` is ${role} at `}${groupName}; ${[age]}, `,
    ...say`${seenParts(lastSeen, created)}, ${[state === "expired" ? "expired" : "ends"]} ${expires}`,
    ...(state === "ending" ? [", within 30 days"] : []),
    ...moreParts(token),
  ];
};

const seenParts = (lastSeen: string | null, created: string | null) => {
  if (lastSeen === null) return ["last use not known"];
  return created !== null && !isUsed(lastSeen, created) ? ["not used yet"] : say`last seen ${lastSeen}`;
};

/** The creator may have given it any role. */
const moreParts = ({ more, complete }: PullToken) => {
  const [shown, rest] = [more.toSorted(byEffect).slice(0, MORE_SHOWN), more.length - MORE_SHOWN];
  const hidden = complete ? "" : "; you cannot see all that it holds, so it may hold more";
  return say`${more.length > 0 && say`; it holds more than pulls: ${shown.join(", ")}`}${rest > 0 && [` and ${rest} more`]}${[hidden]}`;
};

/** `2 pull tokens end within 30 days, 1 pull token has expired`; a token with two roles counts once. */
export const endingTexts = (tokens: readonly PullToken[]): string[] => {
  const countOf = (state: PullToken["state"]) =>
    new Set(tokens.flatMap((one) => (one.state === state ? [one.uid] : []))).size;
  const [ending, expired] = [countOf("ending"), countOf("expired")];
  return [
    ...(ending > 0 ? [countText(ending, "pull token ends within 30 days", "pull tokens end within 30 days")] : []),
    ...(expired > 0 ? [countText(expired, "pull token has expired", "pull tokens have expired")] : []),
  ];
};

/** `4 pull tokens in acme: 1 pull token ends within 30 days` */
export const pullTokensDocument = (
  { graph, notVisible }: Pick<Live, "graph" | "notVisible">,
  tokens: readonly PullToken[],
): Document => {
  const count = countText(new Set(tokens.map(({ uid }) => uid)).size, "pull token");
  const endings = endingTexts(tokens);
  const hidden = notVisible.filter(({ kind }) => HIDES.includes(kind));
  return {
    title: [count, ...organizationPartsOf(graph), endings.length === 0 ? "" : `: ${endings.join(", ")}`],
    facts: [],
    sections: [
      section(
        "not-visible",
        "Not visible to the caller, so pull tokens may be missing here",
        quotedItems(hiddenLines(graph, hidden)),
      ),
      section(
        "pull-tokens",
        "Pull tokens",
        tokens.map((one) => ({ parts: pullTokenParts(one), lines: [line`${one.uid}`], ...excusedIf(one) })),
      ),
    ],
    foot: hidden.length + tokens.length > 0 ? "docs/access.md#pull-tokens says what counts as one." : "",
  };
};

/** It needs no attention. */
export const excusedIf = (token: PullToken): { isExcused?: true } =>
  token.state === "valid" && holdsPullsAlone(token) ? { isExcused: true } : {};
