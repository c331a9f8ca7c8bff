/**
 * Characters that are invisible or change the reading order: controls, direction marks, joiners, fillers, line breaks,
 * the empty Braille cell. Emoji contain some of them and are checked as a whole.
 */
const UNSEEN =
  '\\p{Cc}\\p{Cf}\\p{Co}\\p{Cs}\\p{Noncharacter_Code_Point}\\p{Default_Ignorable_Code_Point}\\p{Zl}\\p{Zp}\\u2800';
const EMOJI = '\\p{RGI_Emoji}';

/** A name without any of them, and with at least one visible character. */
export const VISIBLE_NAME = new RegExp(`^(?=.*\\S)(?:${EMOJI}|[^${UNSEEN}])*$`, 'v');

/**
 * The same for the interface description, where few validators know these classes; without emoji of several parts, and
 * without lone surrogates, which are in no well-formed text and whose escapes make some validators skip the whole pattern.
 */
export function visibleNamePattern(): string {
  const isUnseen = new RegExp(`[${UNSEEN}]`, 'v');
  const ranges: string[] = [];
  for (let code = 0, start = -1; code <= LAST_CODE_POINT + 1; code++) {
    const unseen = code <= LAST_CODE_POINT && !isSurrogate(code) && isUnseen.test(String.fromCodePoint(code));
    if (unseen && start < 0) start = code;
    if (unseen || start < 0) continue;
    ranges.push(`${written(start)}-${written(code - 1)}`);
    start = -1;
  }
  return `^(?=.*\\S)[^${ranges.join('')}]*$`;
}

const LAST_CODE_POINT = 0x10_ff_ff;
const isSurrogate = (code: number): boolean => code >= 0xd8_00 && code <= 0xdf_ff;

/** As an escape that JavaScript and others read alike; there is none for the higher ones. */
function written(code: number): string {
  return code > 0xff_ff ? String.fromCodePoint(code) : `\\u${code.toString(16).padStart(4, '0')}`;
}

const EMOJI_OR_UNSEEN = new RegExp(`(${EMOJI})|[${UNSEEN}]`, 'gv');

/**
 * A name in which invisible characters are marked, for people who decide by it. Needed for names from before the rule.
 */
export function visibleName(name: string): string {
  return name.replaceAll(EMOJI_OR_UNSEEN, (_, emoji: string | undefined) => emoji ?? '\ufffd');
}
