import Negotiator from 'negotiator';
import { matchLanguage, type Language } from './languages.js';

/** The language for a request, by its `Accept-Language` (RFC 9110 section 12.5.4). */
export function acceptedLanguage(header: string | undefined): Language {
  return matchLanguage(new Negotiator({ headers: { 'accept-language': header } }).languages());
}
