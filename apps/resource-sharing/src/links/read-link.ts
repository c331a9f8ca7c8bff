import { AppError } from '@gatehouse/platform';
import { parseShareLink, ShareLinkError, type ShareLink } from '@gatehouse/share-links';

/** The link in a text that a caller sent. Raises INVALID_ARGUMENT naming the field, never what was in it. */
export function readLink(url: string, accessCode?: string | null): ShareLink {
  try {
    return parseShareLink(url, { accessCode: accessCode ?? null });
  } catch (error) {
    if (!(error instanceof ShareLinkError)) throw error;
    const field = error.code === 'bad_access_code' ? 'access_code' : 'url';
    throw new AppError('INVALID_ARGUMENT', `${field}: ${error.message}`, {
      details: [{ field, message: error.message }],
      cause: error,
    });
  }
}
