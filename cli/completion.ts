// `irm completion SHELL` prints a script; on each TAB it asks `irm complete`, which answers from the command tree.
import type { Command, Option } from "commander";

export const addCompletionCommands = (program: Command): void => {
  program
    .command("completion", { hidden: true })
    .usage("SHELL")
    .description("Prints a script that completes commands, flags and their values. Load it when a shell starts.")
    .addHelpText(
      "after",
      `
Examples:
  bash   source <(npx pulumi-irm completion bash)        in ~/.bashrc
  zsh    source <(npx pulumi-irm completion zsh)         in ~/.zshrc
  fish   npx pulumi-irm completion fish | source         in ~/.config/fish/config.fish`,
    )
    .addArgument(program.createArgument("<SHELL>", "the shell").choices(Object.keys(scripts)))
    .action((shell: keyof typeof scripts) => {
      process.stdout.write(scripts[shell]);
    });
  program
    .command("complete", { hidden: true })
    .argument("[WORDS...]", "the words after irm, up to the cursor; the last one may be empty")
    .helpOption(false)
    .action((words: string[]) => {
      const { kind, values } = completionsOf(program, words);
      const lines = values.map(({ value, description }) => `${value}\t${description}`);
      process.stdout.write(`${[kind, ...lines].join("\n")}\n`);
    });
};

interface Completions {
  /** the shell lists `files` and `folders` */
  kind: "values" | "files" | "folders";
  values: { value: string; description: string }[];
}

/** Completions for the end of a command line. `words` follow `irm`, up to the cursor. */
const completionsOf = (program: Command, words: readonly string[]): Completions => {
  const current = words.at(-1) ?? "";
  const { command, awaiting, given, operands } = placeAfter(program, words.slice(0, -1));
  const [prefix = "", flag = ""] = awaiting ? [] : (/^(--[^=]+)=/.exec(current) ?? []);
  const option = awaiting ?? optionOf(command, flag);
  if (option) return valuesOf(option.argChoices, option.flags, current, prefix);
  if (current.startsWith("-")) return choose(flagsOf(command, given), current);
  if (command.commands.length > 0) {
    const commands = command.createHelp().visibleCommands(command);
    return choose(
      commands.map((one) => ({ value: one.name(), description: one.summary() || one.description() })),
      current,
    );
  }
  const argument = command.registeredArguments[operands];
  return argument ? valuesOf(argument.argChoices, argument.name(), current) : choose(flagsOf(command, given), current);
};

/** `awaiting`: the flag whose value comes next. `given`: the flags so far. `operands`: the number of arguments so far. */
const placeAfter = (program: Command, words: readonly string[]) => {
  let command = program;
  let awaiting: Option | undefined;
  const given = new Set<string>();
  let operands = 0;
  for (const word of words) {
    const next = command.commands.find((one) => one.name() === word);
    if (awaiting) awaiting = undefined;
    else if (word.startsWith("-") && word !== "-") {
      const [flag = "", value] = word.split("=", 2);
      given.add(flag);
      const option = optionOf(command, flag);
      if (option?.required && value === undefined) awaiting = option;
    } else if (next) command = next;
    else operands += 1;
  }
  return { command, awaiting, given, operands };
};

const optionOf = (command: Command, flag: string) =>
  command.options.find(({ long, short }) => long === flag || short === flag);

/** For a value without choices, the shell lists files. `prefix`: the part of the word before the value. */
const valuesOf = (
  choices: readonly string[] | undefined,
  placeholder: string,
  current: string,
  prefix = "",
): Completions => {
  const values = choices?.map((one) => ({ value: prefix + one, description: "" }));
  if (values) return choose(values, current);
  // The placeholder names the kind of a value: `--db FILE`, `--folder FOLDER`.
  if (placeholder.includes("FILE")) return { kind: "files", values: [] };
  return { kind: placeholder.includes("FOLDER") ? "folders" : "values", values: [] };
};

// A flag with a parser of its own is repeatable.
const flagsOf = (command: Command, given: ReadonlySet<string>) =>
  command
    .createHelp()
    .visibleOptions(command)
    .filter(({ long, parseArg, argChoices }) => (parseArg && !argChoices) || !given.has(long as string))
    .map(({ long, description }) => ({ value: long as string, description }));

const choose = (values: Completions["values"], current: string): Completions => ({
  kind: "values",
  values: values.filter(({ value }) => value.startsWith(current)),
});

// The scripts of `irm completion`. Each passes the words up to the cursor to `irm complete`, evaluates none of them, and leaves files and
// folders to the shell.

// bash 3.2 (macOS) lacks mapfile and negative indexes. It splits words at "=" and replaces only the part behind it.
const bash = `# Completion of irm for bash: source <(npx pulumi-irm completion bash)
_irm() {
  local word words=() cur=\${COMP_WORDS[COMP_CWORD]} kind line glue=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD}"; do
    if [[ ( $word == "=" || -n $glue ) && \${#words[@]} -gt 0 ]]; then
      words[\${#words[@]}-1]+=$word
    else
      words+=("$word")
    fi
    [[ $word == "=" ]] && glue=1 || glue=""
  done
  [[ $cur == "=" ]] && cur=""
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ -z $kind ]]; then
      kind=$line
    else
      line=\${line%%$'\\t'*}
      [[ $line == *=* ]] && line=\${line#*=}
      COMPREPLY+=("$line")
    fi
  done < <("\${1/#\\~/$HOME}" complete -- "\${words[@]}" 2>/dev/null)
  case $kind in
    files) compopt -o filenames 2>/dev/null; while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$cur") ;;
    folders) compopt -o filenames 2>/dev/null; while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -d -- "$cur") ;;
  esac
}
complete -F _irm irm pulumi-irm
`;

const zsh = `#compdef irm pulumi-irm
# Completion of irm for zsh: source <(npx pulumi-irm completion zsh)
_irm() {
  local kind line
  local -a lines values
  lines=("\${(@f)$("\${(Q)words[1]}" complete -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  kind=$lines[1]
  case $kind in
    (files) [[ -prefix --*= ]] && compset -P '*='; _files; return ;;
    (folders) [[ -prefix --*= ]] && compset -P '*='; _files -/; return ;;
  esac
  for line in "\${(@)lines[2,-1]}"; do
    values+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  (( $#values )) && _describe -V irm values
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
if [[ $funcstack[1] == _irm ]]; then _irm "$@"; else compdef _irm irm pulumi-irm; fi
`;

const fish = `# Completion of irm for fish: npx pulumi-irm completion fish | source
function __irm_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l lines ($words[1] complete -- $words[2..-1] 2>/dev/null)
    set -l flag (string match -r -- '^--[^=]+=' $words[-1])
    set -l value (string replace -r -- '^--[^=]+=' '' $words[-1])
    switch "$lines[1]"
        case files
            for path in (__fish_complete_path $value)
                echo "$flag$path"
            end
        case folders
            for path in (__fish_complete_directories $value)
                echo "$flag$path"
            end
        case '*'
            string join -- \\n $lines[2..-1]
    end
end
complete -c irm -f -a '(__irm_complete)'
complete -c pulumi-irm -f -a '(__irm_complete)'
`;

const scripts = { bash, zsh, fish };
