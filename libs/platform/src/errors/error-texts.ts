/**
 * Chinese error texts by their English originals, as in gettext. `{name}` stands for any value: the English `There is
 * no node {id}.` is the message `There is no node 7.` The value of `{problem}`, `{reason}`, `{effect}`, `{whose}`,
 * `{action}` and `{visitors}` is a text that is translated as well; other values do not change.
 */
export type ErrorTexts = Readonly<Record<string, string>>;
