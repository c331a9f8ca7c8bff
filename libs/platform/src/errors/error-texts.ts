/**
 * Texts of errors in Chinese by the English that the code has, as gettext does. `{name}` stands for any value: the English
 * `There is no node {id}.` is the message `There is no node 7.`
 */
export type ErrorTexts = Readonly<Record<string, string>>;
