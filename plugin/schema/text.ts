// From the text of an argument to the description of a property: in other languages than TypeScript a property takes uids alone.
const REPLACED: readonly (readonly [RegExp, string])[] = [
  [/\ban? (?:Group|IdentityProvider|Identity|Repo|Role) or a uid\b/g, "its uid"],
  [/, a Role, or a uid\b/g, ", or a uid"],
  [/\bundefined\b/g, "absent"],
  [/^A Repo, its uid\b/, "Its uid"],
];

export const descriptionFrom = (words: string): string => {
  const text = REPLACED.reduce((result, [pattern, words]) => result.replace(pattern, words), words);
  return /^(?:uid|uids)\b/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
};
