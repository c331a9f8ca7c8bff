import { AppError } from '@gatehouse/platform';
import { parseAccessCode, parseShareLink, ShareLinkError, type ShareLink } from '@gatehouse/share-links';

/** An access code from a caller; null means none. @throws INVALID_ARGUMENT */
export function readAccessCode(text: string | null): string {
  return explaining(() => parseAccessCode(text ?? ''));
}

/** The link in a text from a caller. @throws INVALID_ARGUMENT with the name of the field, never its content. */
export function readLink(url: string, accessCode?: string | null): ShareLink {
  return explaining(() => parseShareLink(url, { accessCode: accessCode ?? null }));
}

function explaining<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ShareLinkError)) throw error;
    const field = error.code === 'bad_access_code' ? 'access_code' : 'url';
    throw new AppError('INVALID_ARGUMENT', `${field}: ${error.message}`, {
      details: [{ field, message: error.message }],
      cause: error,
    });
  }
}
