/** A value that is invalid for its key. */
export class PreferenceError extends Error {
  readonly key: string;
  constructor(key: string, message: string) {
    super(message);
    this.name = 'PreferenceError';
    this.key = key;
  }
}

const MAX_MIRRORS = 10;

/** How the value of a key is parsed from its text. */
export interface PreferenceType<T> {
  readonly defaultText: string;
  /** @throws Error that describes a valid value. */
  parse(text: string): T;
}

export function flag(defaultValue: boolean): PreferenceType<boolean> {
  return {
    defaultText: String(defaultValue),
    parse(text) {
      if (text === 'true') return true;
      if (text === 'false') return false;
      throw new Error('must be "true" or "false"');
    },
  };
}

export function integer(defaultValue: number, min: number, max: number): PreferenceType<number> {
  return {
    defaultText: String(defaultValue),
    parse(text) {
      const value = Number(text);
      if (/^-?\d{1,15}$/.test(text) && value >= min && value <= max) return value;
      throw new Error(`must be a whole number from ${min} to ${max}`);
    },
  };
}

export function ratio(defaultValue: number): PreferenceType<number> {
  return {
    defaultText: String(defaultValue),
    parse(text) {
      const value = Number(text);
      if (/^\d(\.\d+)?$/.test(text) && value >= 0 && value <= 1) return value;
      throw new Error('must be a number from 0 to 1');
    },
  };
}

export function oneOf<const V extends string>(defaultValue: V, values: readonly V[]): PreferenceType<V> {
  return {
    defaultText: defaultValue,
    parse(text) {
      const value = values.find((candidate) => candidate === text);
      if (value !== undefined) return value;
      throw new Error(`must be one of ${values.join(', ')}`);
    },
  };
}

export function text(defaultValue: string, maxLength = 512): PreferenceType<string> {
  return {
    defaultText: defaultValue,
    parse(value) {
      // Control characters would reach request headers and log lines.
      if (value.length <= maxLength && !/\p{Cc}/u.test(value)) return value;
      throw new Error(`must be at most ${maxLength} printable characters`);
    },
  };
}

/** An http or https URL. If `defaultValue` is empty, an empty value means none. */
export function httpUrl(defaultValue: string): PreferenceType<string> {
  return {
    defaultText: defaultValue,
    parse(value) {
      if (value === '' && defaultValue === '') return value;
      if (URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)) return value;
      throw new Error('must be an http or https URL');
    },
  };
}

/** Like `httpUrl`, but may be empty whatever the default is. */
export function optionalHttpUrl(defaultValue: string): PreferenceType<string> {
  return { defaultText: defaultValue, parse: (value) => httpUrl('').parse(value) };
}

/** Addresses separated by commas or spaces; empty means none. */
export function httpUrls(defaultValue: string): PreferenceType<readonly string[]> {
  const one = httpUrl('');
  return {
    defaultText: defaultValue,
    parse(value) {
      const urls = value.split(/[\s,]+/).filter((url) => url !== '');
      if (urls.length > MAX_MIRRORS || value.length > 4_096) {
        throw new Error(`must be at most ${MAX_MIRRORS} http or https URLs`);
      }
      return urls.map((url) => one.parse(url));
    },
  };
}

/** `200`, `204/301`, `200-299`, empty for any, as in Clash configurations. */
export function statusRanges(defaultValue: string): PreferenceType<string> {
  return {
    defaultText: defaultValue,
    parse(value) {
      if (/^([1-5]\d\d(-[1-5]\d\d)?(\/[1-5]\d\d(-[1-5]\d\d)?)*)?$/.test(value)) return value;
      throw new Error('must be HTTP statuses such as 204 or 200-299/301');
    },
  };
}

/** `host:port`, `:port`, or empty for the value of the environment. */
export function listenAddress(): PreferenceType<{ address: string | null; port: number } | null> {
  return {
    defaultText: '',
    parse(value) {
      if (value === '') return null;
      const match = /^(?:\[([0-9a-f:.]+)\]|([^\s:[\]]*)):(\d{1,5})$/i.exec(value);
      const port = Number(match?.[3]);
      if (match === null || port > 65_535) throw new Error('must be host:port, [ipv6]:port or :port');
      return { address: match[1] ?? (match[2] || null), port };
    },
  };
}

export interface GroupListener {
  address: string | null;
  port: number;
  group: string;
}

/** `host:port=group` pairs separated by spaces; names of groups are percent-encoded. */
export function groupListeners(): PreferenceType<GroupListener[]> {
  return {
    defaultText: '',
    parse(value) {
      const pairs = value.split(/\s+/).filter((pair) => pair !== '');
      const listeners = pairs.map((pair) => groupListener(pair));
      const known = listeners.filter((listener) => listener !== null);
      const names = new Set(known.map(({ group }) => group));
      if (pairs.length > 100 || names.size < pairs.length) {
        throw new Error('must be at most 100 pairs host:port=group or :port=group with different groups');
      }
      return known;
    },
  };
}

function groupListener(pair: string): GroupListener | null {
  const equals = pair.indexOf('=');
  try {
    const place = listenAddress().parse(pair.slice(0, Math.max(0, equals)));
    const group = decodeURIComponent(pair.slice(equals + 1));
    return place === null || group === '' ? null : { ...place, group };
  } catch {
    return null;
  }
}

/** `user:password` pairs separated by spaces or commas. */
export function userList(): PreferenceType<{ username: string; password: string }[]> {
  return {
    defaultText: '',
    parse(value) {
      const pairs = value.split(/[\s,]+/).filter((pair) => pair !== '');
      const users = pairs.map((pair) => /^([\x21-\x7e]{1,255}?):([\x21-\x7e]{1,255})$/.exec(pair));
      const names = new Set(users.map((user) => user?.[1]));
      if (pairs.length > 100 || users.includes(null) || names.size < users.length) {
        throw new Error('must be at most 100 pairs user:password with different users, separated by spaces');
      }
      return users.map((user) => ({ username: user![1]!, password: user![2]! }));
    },
  };
}
