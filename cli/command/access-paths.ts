// `irm access paths`: the requests by which somebody could gain more access.

import { html } from "../../access/format/html/page.ts";
import { pathsDocument, pathsJson } from "../../access/format/paths.ts";
import { readLive } from "../../access/graph/live.ts";
import { findPaths } from "../../access/paths/find.ts";
import { isRefuted, type PathQuery, type Paths, type Proofs } from "../../access/paths/path.ts";
import { mistakeText, workloadFromText } from "../../access/policy/parse.ts";
import { isComplete } from "../../access/query/answer.ts";
import { capabilityViolation, resolveQuestion } from "../../access/query/question.ts";
import type { Client } from "../../client/client.ts";
import { systemClient, systemConfig } from "../client.ts";
import { copyOf } from "../copy.ts";
import { type IrmCommand, UsageError } from "../irm-command.ts";
import { printDocument } from "../print-document.ts";
import { provePaths } from "../prove.ts";
import type { Format } from "../terminal.ts";

interface PathsFlags {
  from?: string;
  to?: string;
  at?: string;
  prove?: boolean;
  format: Format;
}

const PAGE = {
  search: "identities, groups and capabilities",
  lead: html`<p>The requests with which somebody could gain access that they do not have today.</p>`,
};

export const definePaths = (command: IrmCommand): void => {
  command
    .summary("show how somebody could gain more access")
    .description(
      "Prints the requests with which somebody could gain more access, the shortest path first. Sends only requests that read.",
    )
    .option(
      "--from <IDENTITY|WORKLOAD>",
      "an identity by uid or name, or a workload such as '{ github: { repository: acme/images, branch: main } }' (default: each with a role)",
    )
    .option("--to <CAPABILITY|owner>", "the access to reach: a capability such as tag.create, or all that an owner has")
    .option("--at <GROUP>", "where to reach it: a group, by uid or path; / is the organization")
    .option(
      "--prove",
      "carry out each path on a copy in memory, and print what the caller may do afterwards; exit with 3 if one fails",
    )
    .formats("terminal", "markdown", "json", "html")
    .example("access paths --to owner")
    .runs(paths);
};

const paths = async (flags: PathsFlags): Promise<number> => {
  const workload = workloadIn(flags.from);
  const violation =
    flags.to === undefined || flags.to === "owner" ? undefined : capabilityViolation(flags.to, ["owner"]);
  if (violation !== undefined) throw new UsageError(`--to: ${violation}`);
  const client = systemClient();
  const { graph, notVisible } = await readLive(client);
  const asked = {
    identity: workload ? undefined : flags.from,
    group: flags.at,
    capability: flags.to === "owner" ? undefined : flags.to,
  };
  const question = resolveQuestion(graph, asked, isComplete(notVisible));
  const query: PathQuery = {
    from: workload ? { relationship: workload } : question.identity && { identity: question.identity.id },
    at: question.group?.id,
    to: question.capability ?? flags.to,
  };
  const audience = systemConfig().baseUrl;
  const found = findPaths(graph, query, { notVisible, audience, nowMs: client.clock.today() });
  const proofs = flags.prove ? await proofsOf(found, client, audience) : undefined;
  const document = pathsDocument(graph, found, notVisible, proofs);
  printDocument(document, pathsJson(found, notVisible, proofs), flags.format, PAGE);
  return [...(proofs?.values() ?? [])].some(isRefuted) ? REFUTED : 0;
};

/** A map in braces is a workload, as a test of access describes it. Anything else is an identity. */
const workloadIn = (text: string | undefined) => {
  if (text === undefined || !text.trimStart().startsWith("{")) return undefined;
  const { relationship, mistakes } = workloadFromText(text, "--from");
  if (relationship === undefined) throw new UsageError(mistakes.map(mistakeText).join("\n"));
  return relationship;
};

/** The copy refutes a path: a defect of this version, or records that changed meanwhile. */
const REFUTED = 3;

const proofsOf = async ({ paths: found }: Paths, client: Client, address: string): Promise<Proofs> =>
  found.length === 0 ? new Map() : provePaths(found, await copyOf(client, address), address);
