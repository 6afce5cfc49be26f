// `irm serve token`: gets an identity token from a development issuer, as a platform gives one to a workload.
import { type Dispatcher, fetch } from "undici";
import { connectionText } from "../../client/transport.ts";
import { schemeProblem } from "../../schema/address.ts";
import { printable } from "../../schema/nearest.ts";
import type { MintRequest } from "../../server/index.ts";
import { type IrmCommand, UsageError } from "../irm-command.ts";
import { printError } from "../terminal.ts";

export const defineToken = (command: IrmCommand): void => {
  command
    .usage("--issuer URL --subject S [FLAGS]")
    .summary("get an identity token from the issuer of serve --dev")
    .description("Prints an identity token of the development issuer that npx pulumi-irm serve --dev runs.")
    .option("--issuer <URL>", "the issuer, as npx pulumi-irm serve --dev prints it")
    .option("--subject <S>", "sub of the token")
    .option("--audience <A>", "aud of the token (default: the address of the token exchange)")
    .repeatable("--claim <k=v>", "another claim; v is read as JSON if possible, otherwise as a string; repeatable")
    .example("serve token --issuer $IRM_BASE_URL/dev-issuer --subject owner")
    .runs(token);
};

const token = async (flags: {
  issuer?: string;
  subject?: string;
  audience?: string;
  claim?: string[];
}): Promise<number> => {
  const missing = (["issuer", "subject"] as const).filter((name) => !flags[name]);
  if (missing.length > 0) throw new UsageError(`${missing.map((name) => `--${name}`).join(" and ")} must be given`);
  const issuer = flags.issuer as string;
  const problem = schemeProblem(issuer);
  if (problem !== undefined) throw new UsageError(`--issuer ${problem}`);
  if (!URL.canParse(issuer)) throw new UsageError(`--issuer takes a URL, not ${JSON.stringify(issuer)}`);
  const claims = Object.fromEntries((flags.claim ?? []).map(parseClaim));
  try {
    const token = await mintDevToken(issuer, { subject: flags.subject as string, audience: flags.audience, claims });
    process.stdout.write(`${token}\n`);
    return 0;
  } catch (error) {
    printError("irm serve token", (error as Error).message);
    return 1;
  }
};

const parseClaim = (text: string): [string, unknown] => {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined)
    throw new UsageError(`--claim takes name=value, not ${JSON.stringify(text)}`);
  try {
    return [name, JSON.parse(value)];
  } catch {
    // Not JSON: the text itself is the value.
    return [name, value];
  }
};

const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** Throws an error with the response of the issuer. */
export const mintDevToken = async (issuer: string, request: MintRequest, dispatcher?: Dispatcher): Promise<string> => {
  const answer = await fetch(`${issuer}/token`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(request),
    dispatcher,
  }).catch((error: Error) => {
    const cause = (error.cause ?? error) as NodeJS.ErrnoException;
    const hint = cause.code === "ECONNREFUSED" ? "; start `npx pulumi-irm serve --dev`, or correct --issuer" : "";
    throw new Error(`cannot reach the issuer ${issuer}: ${connectionText(new URL(issuer), cause)}${hint}`, {
      cause: error,
    });
  });
  const json = (await answer.json().catch(() => ({}))) as { token?: unknown; message?: unknown };
  // The output goes to other programs and to the terminal, so only a well-formed token is printed.
  if (typeof json.token === "string" && JWT.test(json.token)) return json.token;
  const reason = typeof json.message === "string" ? `: ${printable(json.message)}` : "";
  const head =
    json.token === undefined ? `answered ${answer.status}${reason}` : "answered with a token that is not a JWT";
  throw new Error(
    `the issuer ${issuer} ${head}; only the development issuer of irm serve --dev issues tokens to anyone`,
  );
};
