// The scripts that `irm completion` prints. Each passes the words up to the cursor to `irm complete`
// without evaluating them, and leaves files and folders to the shell.

// bash 3.2 (macOS) has no mapfile and no negative index. It splits words at "=" and replaces only what follows.
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

export const scripts = { bash, zsh, fish };
export type Shell = keyof typeof scripts;
