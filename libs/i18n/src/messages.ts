/** Messages of one language by feature and name. */
export interface Messages {
  readonly [name: string]: string | Messages;
}

/** The same names as in English, all of them: a missing one does not compile. */
export type Translation<M> = { readonly [K in keyof M]: M[K] extends string ? string : Translation<M[K]> };

/** `feature.name` of every message. */
export type MessageKey<M> = {
  [K in keyof M & string]: M[K] extends string ? K : `${K}.${MessageKey<M[K]>}`;
}[keyof M & string];

type MessageAt<M, K extends string> = K extends keyof M
  ? M[K]
  : K extends `${infer Head}.${infer Rest}`
    ? Head extends keyof M
      ? MessageAt<M[Head], Rest>
      : never
    : never;

type Formatted = string | number | boolean | Date | null | undefined;

/** Names in the braces of a message. */
type PlaceholdersOf<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PlaceholdersOf<Rest>
  : never;

/** A plural or choice has texts in its braces: what it needs is checked when it is formatted. */
type ValuesOf<Text, Value> = Text extends string
  ? Text extends `${string}{${string},${string}`
    ? [values: Readonly<Record<string, Value>>]
    : Text extends `${string}{${string}}${string}`
      ? [values: Readonly<Record<PlaceholdersOf<Text>, Value>> & Readonly<Record<string, Value>>]
      : Text extends `${string}</${string}`
        ? [values: Readonly<Record<string, Value>>]
        : []
  : [];

/** Values of a message, by its type in English: none, or an object with its placeholders. */
export type MessageValues<M, K extends string, Value = Formatted> = ValuesOf<MessageAt<M, K>, Value>;

/** A value or, for `<tag>text</tag>`, a function from what is inside. */
export type RichValue<Part> = Formatted | Part | ((inside: (string | Part)[]) => Part);
