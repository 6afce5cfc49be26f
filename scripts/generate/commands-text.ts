// docs/reference/commands.md: the help of each command, with all flags.

import type { IrmCommand } from "../../cli/irm-command.ts";
import { createProgram } from "../../cli/program.ts";

const HEAD = `# Commands

Look up a command or a flag. \`npx pulumi-irm COMMAND --help\` prints the same text; \`serve --help-all\` adds the advanced flags. With
the executable, write \`pulumi-irm\` without \`npx\`. Exit codes: 0 is success, 1 a failure, 2 a wrong command line, 3 a finding.
`;

export const commandsPage = async (): Promise<string> => {
  const names = (await createProgram([])).commands.map((command) => command.name());
  const program = await createProgram(names);
  const visible = (command: IrmCommand) => command.createHelp().visibleCommands(command) as IrmCommand[];
  const all = visible(program).flatMap((command) => [command, ...visible(command)]);
  return [HEAD, ...all.map((command) => `## ${command.path}\n\n\`\`\`text\n${helpOf(command)}\`\`\`\n`)].join("\n");
};

const helpOf = (command: IrmCommand): string => {
  for (const option of command.options) option.hideHelp(false);
  let text = "";
  command.configureOutput({
    writeOut: (part) => (text += part),
    getOutHelpWidth: () => 110,
    getOutHasColors: () => false,
  });
  command.outputHelp();
  return text.replaceAll(/ +$/gm, "");
};
