// `irm apply`: applies the reviewed update alone. It computes the change again on a copy, compares both, and runs the real update through a
// gate that passes the writes of the change. The program never has credentials of the services.

import { type Change, ChangeError, unusableText } from "../../access/change/change.ts";
import { compareChanges } from "../../access/change/compare.ts";
import type { Write } from "../../access/change/write.ts";
import type { Copy } from "../../access/copy/copy.ts";
import { jsonText } from "../../access/format/document/document.ts";
import { countText } from "../../access/format/words.ts";
import { whoAmI } from "../../access/query/whoami.ts";
import type { Client } from "../../client/client.ts";
import { writeProblems } from "../../gate/index.ts";
import { engineWith } from "../../pulumi/command.ts";
import { printable, UserError } from "../../schema/index.ts";
import {
  type Job,
  type Recomputed,
  removesOf,
  replayAgain,
  runAgain,
  type Services,
  sendWrites,
  startTokenedGate,
  type TokenedGate,
  throughGate,
  withoutCredentials,
} from "../apply/gates.ts";
import { messageOf, runUpdate, type Updates, updatesSince } from "../apply/update.ts";
import { copyOf } from "../copy.ts";
import { ENGINE, engineArguments } from "../engine-command.ts";
import { readChange } from "../files.ts";
import { type IrmCommand, UsageError } from "../irm-command.ts";
import { programUser } from "../run/user.ts";
import { clientsOf, firstOf, SERVICE_FLAG, servicesFrom } from "../services.ts";
import { ask, canAsk, printError, printNotice, untilInterrupted } from "../terminal.ts";

interface ApplyFlags {
  stack?: string;
  service?: readonly string[];
  /** the digest that was approved */
  digest?: string;
  yes?: boolean;
  /** name of the user of the program; absent: that of this process */
  user?: string | undefined;
  format: "terminal" | "json";
}

const REFUSED = 3;

/** The change differs from the reviewed one: one line for each difference. The services are as they were. */
class NotReviewed extends UserError {
  override readonly name = "NotReviewed";
  override readonly exitCode = REFUSED;
}

export const defineCommand = (command: IrmCommand): void => {
  command
    .description(
      "Repeats the change on a copy, and stops if the result differs. Then runs pulumi up through a gate that passes only its writes.",
    )
    .argument("<CHANGE>", "a change that npx pulumi-irm review --out wrote")
    .option("--stack <NAME>", "the stack (default: the one in the change)")
    .repeatable(...SERVICE_FLAG)
    .option("--digest <DIGEST>", "the digest that was approved: sha256:…")
    .option("--user <NAME>", "run the engine and the program as this user; only root can")
    .option("-y, --yes", "do not ask for confirmation")
    .formats("terminal", "json")
    .example("apply change.json --digest sha256:…")
    .runs(apply);
};

const apply = async (file: string, flags: ApplyFlags) => {
  if (flags.yes !== true && !canAsk()) throw new UsageError("there is no terminal to ask whether to go on; give --yes");
  return applyChange(readChange(file), { ...flags, file });
};

/** `file` names the change in errors. Throws a UsageError for wrong flags, and UserErrors. */
export const applyChange = async (change: Change, flags: ApplyFlags & { file: string }): Promise<number> => {
  const { file, digest, format } = flags;
  if (digest !== undefined && digest !== change.digest)
    throw new NotReviewed(`${file} has the digest ${change.digest}, and ${printable(digest)} was approved`);
  engineArguments(change.arguments);
  const user = flags.user === undefined ? undefined : programUser(flags.user);
  const settings = servicesFrom(flags.service);
  const clients = clientsOf(settings);
  const nowMs = await firstOf(clients).serviceNow();
  const problem = unusableText(change, { file, given: [...clients.keys()], nowMs });
  if (problem !== undefined) throw new UsageError(problem);
  await checkCaller(change, clients);

  const stack = flags.stack ?? (change.stack.split("/").at(-1) as string);
  const variables = settings.flatMap(({ tokenEnv }) => tokenEnv ?? []);
  const env = { ...withoutCredentials(process.env, variables), ...user?.env };
  const job: Job = { cwd: process.cwd(), env, stack, user };
  const reason = new UserError("it was interrupted; run it again to apply what is left of the change");
  const act = async (signal: AbortSignal) => {
    printNotice(
      "irm apply",
      `${countText(change.writes.length, "write")}${change.stack && ` to ${change.stack}`}, ${change.digest}`,
    );
    printNotice("irm apply", "remaking the change on a copy");
    const services = await copiesOf(change, clients);
    const { operation } = change;
    const isRun = operation !== "revoke";
    const { current, problems } = isRun
      ? await runAgain(change, operation, job, services, settings, signal)
      : await replayAgain(change, services, signal);
    const engine = engineWith(ENGINE, { signal, user });
    const updates = isRun ? await updatesSince(engine, change, { ...job, name: stack }) : {};
    requireApproved(change, { current, problems, updates, file });
    const { writes } = current.content;
    const left =
      writes.length === change.writes.length
        ? "it is the change that was reviewed"
        : `of the reviewed change, ${countText(writes.length, "write is", "writes are")} left`;
    printNotice("irm apply", left);
    const gate = await startTokenedGate(services, writes, change.as);
    try {
      if (!flags.yes && !(await ask(`Apply ${countText(writes.length, "write")}?`)))
        throw new ChangeError("nothing was applied");
      if (!isRun) {
        await sendWrites(gate, change, writes, signal);
        return finish(gate, 0, format);
      }
      const update = { ...job, operation, arguments: change.arguments, message: messageOf(change) };
      const code = await throughGate({ services: gate.services, removes: removesOf(change) }, job, (own) =>
        runUpdate(engine, { ...update, isQuiet: format === "json", env: own }),
      );
      return finish(gate, code, format);
    } finally {
      await gate.close();
    }
  };
  return untilInterrupted(reason, act, "waiting for the engine to end");
};

/** In the order of the change: its writes omit the first service. */
const copiesOf = async ({ services }: Change, clients: ReadonlyMap<string, Client>): Promise<Services> => {
  const found = new Map<string, { client: Client; copy: Copy }>();
  for (const address of services) {
    const client = clients.get(address) as Client;
    found.set(address, { client, copy: await copyOf(client, address) });
  }
  return found;
};

/** The credentials here must be those of the identity that the review was for. */
const checkCaller = async ({ as }: Change, clients: ReadonlyMap<string, Client>) => {
  const callers = await Promise.all([...clients.values()].map(async (client) => (await whoAmI(client)).identity));
  if (callers.includes(as)) return;
  const found = callers.filter((uid) => uid !== null).join(", ") || "not known";
  throw new NotReviewed(`the change is for the identity ${as}, and the identity of these credentials is ${found}`);
};

/** Throws NotReviewed with all reasons against the change. */
const requireApproved = (
  change: Change,
  { current, problems: failed, updates, file }: Recomputed & { updates: Updates; file: string },
): void => {
  const { problems: apart, added, left } = compareChanges(change, current);
  const { other, applied } = updates;
  const problems = [
    ...failed,
    ...apart,
    // An update without effect on access undoes an edit by hand. Other writes need a review.
    ...added
      .filter(({ mask }) => mask === undefined)
      .map((write) => `it would send ${writeText(write)}, which was not reviewed`),
    ...writeProblems(current.content.writes),
    ...(other === undefined ? [] : [`another update of the stack began at ${other}, after the review`]),
    ...(applied === undefined || left === 0
      ? []
      : [`the change was applied at ${applied}, and something has changed since`]),
  ];
  if (problems.length === 0) return;
  const again = "Nothing was applied. Review the change again: npx pulumi-irm review --out FILE";
  throw new NotReviewed(
    [`${file} is not the change that would be applied now:`, ...problems.map((one) => `- ${one}`), again].join("\n"),
  );
};

const finish = (gate: TokenedGate, code: number, format: ApplyFlags["format"]): number => {
  const { applied, refused, missing, unknown } = gate.report();
  const [tokens, reasons] = [gate.tokens(), gate.reasons()];
  const open = missing.length + unknown.length;
  if (format === "json")
    process.stdout.write(jsonText({ applied, refused, missing: open, tokens, narrowed: reasons.length === 0 }));
  else {
    const tokenTexts = tokens.map(
      ({ capabilities, scopes }) => `${capabilities.join(", ")} in ${scopes.join(", ") || "every group"}`,
    );
    const refusals = refused.map(({ method, message }) => `${method}: ${message}`);
    const lines = [
      ...list("Tokens for the writes", tokenTexts),
      ...list("Not narrowed", reasons),
      `Applied: ${countText(applied, "write")} of the change`,
      ...list("Refused, since the change does not have it", refusals),
      ...list("Missing: the update did not send it, or it failed", missing.map(writeText)),
      ...list("Not known: the service gave no clear answer; run it again", unknown.map(writeText)),
    ];
    process.stdout.write(`${lines.join("\n")}\n`);
  }
  if (refused.length + open > 0) return REFUSED;
  if (code !== 0) printError("irm apply", `pulumi ended with ${code}; its messages are above. Run it again to go on`);
  return code === 0 ? 0 : 1;
};

const writeText = ({ n, method, parent, uid, fields }: Write) =>
  [`${n} ${method}`, textIn(uid ?? parent), textIn(fields.name)].filter(Boolean).join(" ");

const textIn = (value: unknown) =>
  value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);

const list = (title: string, items: readonly string[]) =>
  items.length === 0 ? [] : [`${title}:`, ...items.map((item) => `  ${printable(item)}`)];
