import type { CursorPage } from './cursor-page.js';

/** A list of addresses that the gateway fetches from a URL, for rules. */
export interface AddressListView {
  /** @asType integer */
  id: number;
  /** What rules call it: the pattern of a rule of kind `list`. */
  name: string;
  url: string;
  /** Whether the URL may lead into the gateway's own network, and begin with http://. */
  allow_private: boolean;
  /**
   * How often it is fetched.
   * @asType integer
   */
  interval_minutes: number;
  /**
   * How many rules name it.
   * @asType integer
   */
  rules: number;
  /**
   * Addresses, networks and ranges that rules use now.
   * @asType integer
   */
  entries: number;
  /**
   * Size of the text that they are from.
   * @asType integer
   */
  bytes: number;
  /**
   * Lines of it that could not be read.
   * @asType integer
   */
  bad_line_count: number;
  /** The first of them. */
  bad_lines: AddressListBadLine[];
  /**
   * When the text was fetched; null: never, and rules that name the list match nothing.
   * @format date-time
   */
  refreshed_at: string | null;
  /**
   * When the server was asked last, whatever it answered.
   * @format date-time
   */
  checked_at: string | null;
  /** Why it was not fetched the last time, so that the former text is still used; null: it was. */
  last_error: string | null;
  /** @format date-time */
  created_at: string;
  /** @format date-time */
  updated_at: string;
}

export interface AddressListBadLine {
  /** @asType integer */
  line: number;
  text: string;
}

export type AddressListPage = CursorPage<AddressListView>;
