/**
 * Texts of errors in Chinese by the English that the code has, as gettext does. `{name}` stands for any value: the English
 * `There is no node {id}.` is the message `There is no node 7.` The value of `{problem}`, `{reason}`, `{effect}`, `{whose}`,
 * `{action}` and `{visitors}` is a text that is translated, too; other values stay as they are.
 */
export type ErrorTexts = Readonly<Record<string, string>>;
