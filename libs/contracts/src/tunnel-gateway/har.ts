/** HTTP Archive 1.2, as far as it is written here (http://www.softwareishard.com/blog/har-12-spec/). */
export interface HarArchive {
  log: {
    version: '1.2';
    creator: { name: string; version: string };
    entries: HarEntry[];
  };
}

export interface HarNameValue {
  name: string;
  value: string;
}

export interface HarPostData {
  mimeType: string;
  text: string;
  /** `base64` where the body is not text. */
  comment?: string;
}

export interface HarRequest {
  method: string;
  url: string;
  httpVersion: string;
  cookies: [];
  headers: HarNameValue[];
  queryString: HarNameValue[];
  postData?: HarPostData;
  /** @asType integer */
  headersSize: number;
  /** @asType integer */
  bodySize: number;
}

export interface HarContent {
  /** @asType integer */
  size: number;
  mimeType: string;
  text?: string;
  encoding?: 'base64';
  comment?: string;
}

export interface HarResponse {
  /**
   * 0: none was begun.
   * @asType integer
   */
  status: number;
  statusText: string;
  httpVersion: string;
  cookies: [];
  headers: HarNameValue[];
  content: HarContent;
  redirectURL: string;
  /** @asType integer */
  headersSize: number;
  /** @asType integer */
  bodySize: number;
}

export interface HarTimings {
  /** Verification of the visitor, in milliseconds; -1: there was none. */
  blocked: number;
  /** Until the request went to a connection with the target; -1: it did not. */
  connect: number;
  send: number;
  wait: number;
  receive: number;
}

export interface HarEntry {
  /** @format date-time */
  startedDateTime: string;
  time: number;
  request: HarRequest;
  response: HarResponse;
  cache: Record<string, never>;
  timings: HarTimings;
  comment?: string;
  /** Id of the request, for `GET /hosts/{id}/requests/{requestId}`. */
  _id: string;
  /** The address of the visitor. */
  _visitor: string;
  /** Why the gateway answered in place of the target, or why the answer is incomplete; null: neither. */
  _error: string | null;
}
