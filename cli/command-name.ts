// How the reader starts this command: npm has started it in a clone; in a project, npx finds it.
const { npm_command, npm_lifecycle_event } = process.env;

export const commandName =
  npm_command?.startsWith("run") && npm_lifecycle_event === "irm" ? "npm run -s irm --" : "npx pulumi-irm";

/** The command of the engine, as the reader starts it beside `commandName`. */
export const pulumiName = commandName.startsWith("npm") ? "npm run -s pulumi --" : "pulumi";
