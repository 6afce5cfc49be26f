// `irm access whoami`: the identity of the environment's credentials, the way to it, and its access.

import { jsonText } from "../../access/format/document/document.ts";
import { documentAsText } from "../../access/format/document/terminal.ts";
import { whoAmIDocument, whoAmIJson } from "../../access/format/whoami.ts";
import { type CheckAnswer, type CheckText, checkOwn, groupsOfGrants } from "../../access/query/own-groups.ts";
import { capabilityViolation } from "../../access/query/question.ts";
import { type WhoAmI, whoAmI } from "../../access/query/whoami.ts";
import { quote } from "../../access/text.ts";
import { type Config, foundSettings } from "../../client/config.ts";
import { isObject } from "../../schema/index.ts";
import { systemClient, systemConfig } from "../client.ts";
import { type IrmCommand, UsageError } from "../irm-command.ts";
import { type Format, print, printStyled, stdoutStyle } from "../terminal.ts";

interface WhoAmIFlags {
  check?: string[];
  format: Format;
}

const NOT_HELD = 3;

export const defineWhoAmI = (command: IrmCommand): void => {
  command
    .summary("show who you are to the API, and what you may do")
    .description(
      "Prints the identity behind the credentials, how it was found, and its roles. With --check, exits with 3 if it lacks a capability.",
    )
    .repeatable(
      "--check <CAPABILITY@GROUP>",
      "whether it has a capability at a group, such as groups.list@platform; the group is a uid, a path, or / for the organization; repeatable",
    )
    .formats("terminal", "json")
    .example("access whoami --check groups.list@/")
    .runs(whoami);
};

const whoami = async ({ check = [], format }: WhoAmIFlags): Promise<number> => {
  const asked = check.map(parseCheck);
  const config = systemConfig();
  const client = systemClient();
  const who = await whoAmI(client);
  const answers: CheckAnswer[] = [];
  for (const one of asked) answers.push(await checkOwn(client, who, one));
  if (format === "json") print(jsonText(whoAmIJson(who, answers)));
  else if (asked.length > 0)
    print(answers.map(({ capability, message }, i) => `${capability} at ${asked[i]?.group}: ${message}\n`).join(""));
  else {
    const groups = await groupsOfGrants(client, who.grants);
    printStyled(documentAsText(whoAmIDocument(who, groups, reachedBy(who, config)), stdoutStyle()));
  }
  return answers.every(({ isHeld }) => isHeld) ? 0 : NOT_HELD;
};

const parseCheck = (text: string): CheckText => {
  const at = text.indexOf("@");
  if (at < 1 || at === text.length - 1)
    throw new UsageError(`--check takes CAPABILITY@GROUP, such as groups.list@/, not ${JSON.stringify(text)}`);
  const capability = text.slice(0, at);
  const violation = capabilityViolation(capability);
  if (violation !== undefined) throw new UsageError(`--check: ${violation}`);
  return { capability, group: text.slice(at + 1) };
};

/** The settings and the token that led to the identity. Of the token, shows only claims that name its holder. */
const reachedBy = (
  { source, isExchange, claims: { act } }: WhoAmI,
  { baseUrl, authUrl, identity }: Config,
): [string, string][] => {
  const places = new Map(foundSettings(undefined, process.env).map(({ name, place }) => [name, place]));
  const from = (name: string) => `(${places.get(name) ?? "default"})`;
  const rows: [string, string][] = [
    ["service", `${baseUrl} ${from("baseUrl")}`],
    ["token", source],
  ];
  if (isExchange) {
    const usual = "the one with the workload's issuer and subject (default)";
    rows.push(["exchange", `${authUrl} ${from("authUrl")}`]);
    rows.push(["assumes", identity === undefined ? usual : `${identity} ${from("identity")}`]);
  }
  if (isObject(act) && typeof act.iss === "string" && typeof act.sub === "string")
    rows.push(["workload", `issuer ${quote(act.iss)}, subject ${quote(act.sub)}`]);
  return rows;
};
