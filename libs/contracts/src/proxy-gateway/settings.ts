/** `GET` and `PUT /settings`: every setting by its name; all values are strings. */
export type SettingsView = Record<string, string>;
