// Parsers of flag values. A wrong value is a UsageError.

/** A wrong command line: the command prints the message and exits with 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export const parsePort = (flag: string, text: string): number => {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535)
    throw new UsageError(`${flag} takes a port from 0 (any free one) to 65535, not ${JSON.stringify(text)}`);
  return port;
};

export const parseCount = (flag: string, text: string): number => {
  if (!/^[1-9]\d{0,5}$/.test(text))
    throw new UsageError(`${flag} takes a whole number from 1 to 999999, not ${JSON.stringify(text)}`);
  return Number(text);
};

// How the reader starts this command: npm has started it in a clone; in a project, npx finds it.

const { npm_command, npm_lifecycle_event } = process.env;

export const commandName =
  npm_command?.startsWith("run") && npm_lifecycle_event === "irm" ? "npm run -s irm --" : "npx pulumi-irm";

/** The command of the engine, as the reader starts it beside `commandName`. */
export const pulumiName = commandName.startsWith("npm") ? "npm run -s pulumi --" : "pulumi";
