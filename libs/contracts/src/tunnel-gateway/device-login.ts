/** The codes of a login that begins on a machine without a browser (RFC 8628 section 3.2). */
export interface DeviceCodesView {
  /** For the machine alone. */
  device_code: string;
  /** For its user, who enters it in the console. */
  user_code: string;
  verification_uri: string;
  /** The same with the code in it, for a link or a QR code. */
  verification_uri_complete: string;
  /**
   * Seconds until both codes expire.
   * @asType integer
   */
  expires_in: number;
  /**
   * Seconds between two questions of the machine.
   * @asType integer
   */
  interval: number;
}

/** What a machine that waits for its user is answered. */
export interface DeviceLoginView {
  /** `approved`, or the name of the error in RFC 8628 section 3.5. */
  status: 'approved' | 'authorization_pending' | 'slow_down' | 'access_denied' | 'expired_token';
  /**
   * Seconds to wait before the next question.
   * @asType integer
   */
  interval: number;
  /** An API key with the scopes `read` and `write`, in one answer only. Its name is that of the machine. */
  api_key: string | null;
  /** The user who approved it. */
  username: string | null;
}

/** A machine that asks for a login. */
export interface DeviceRequestView {
  user_code: string;
  /** As the machine calls itself. */
  machine: string;
  /** Where it asked from. */
  address: string;
  /** @format date-time */
  created_at: string;
  /** @format date-time */
  expires_at: string;
}
