/** Where shared files are kept; the value is `pan_type` on the wire. */
export const SHARE_LINK_KINDS = [
  '115',
  '123',
  'quark',
  'baidu',
  'aliyun',
  'tianyi',
  'xunlei',
  'uc',
  'mobile',
  'guangya',
  'pikpak',
  'magnet',
  'ed2k',
  'others',
] as const;
export type ShareLinkKind = (typeof SHARE_LINK_KINDS)[number];

/** A link to shared files, as it was found in a text. */
export interface ShareLink {
  readonly kind: ShareLinkKind;
  /** False for `others`: the address is kept but nothing is known of its site. */
  readonly supported: boolean;
  /** Of the share on its site; null for `others`. */
  readonly id: string | null;
  /** `kind:id`, the same for every way to write the same share. */
  readonly key: string;
  /** Without the access code. */
  readonly url: string;
  /** 1 to 16 letters and digits; empty without one. */
  readonly accessCode: string;
  /** One address that carries the access code, as the site's own pages write it. */
  readonly fullUrl: string;
  /** Two different access codes were found; `accessCode` is the one nearer to the caller's word. */
  readonly accessCodeConflict: boolean;
}

/** Longest text that is read, in bytes of UTF-8. */
export const MAX_TEXT_BYTES = 2048;

export type ShareLinkErrorCode = 'not_a_link' | 'too_long' | 'bad_access_code';

const MESSAGES: Readonly<Record<ShareLinkErrorCode, string>> = {
  not_a_link: 'This is not a link',
  too_long: `A link has at most ${MAX_TEXT_BYTES} bytes`,
  bad_access_code: 'An access code is 1 to 16 letters and digits',
};

/** Why a text is no link; its message may be shown to the sender of the text. */
export class ShareLinkError extends Error {
  readonly code: ShareLinkErrorCode;

  constructor(code: ShareLinkErrorCode) {
    super(MESSAGES[code]);
    this.name = 'ShareLinkError';
    this.code = code;
  }
}
