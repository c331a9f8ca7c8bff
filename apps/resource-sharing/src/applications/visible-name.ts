/**
 * Characters that are invisible or change the reading order: controls, direction marks, joiners, fillers, line breaks,
 * the empty Braille cell. Emoji contain some of them and are checked as a whole.
 */
const UNSEEN = '\\p{C}\\p{Default_Ignorable_Code_Point}\\p{Zl}\\p{Zp}\\u2800';
const EMOJI = '\\p{RGI_Emoji}';

/** A name without any of them, and with at least one visible character. */
export const VISIBLE_NAME = new RegExp(`^(?=.*\\S)(?:${EMOJI}|[^${UNSEEN}])*$`, 'v');

const EMOJI_OR_UNSEEN = new RegExp(`(${EMOJI})|[${UNSEEN}]`, 'gv');

/**
 * A name in which invisible characters are marked, for people who decide by it. Needed for names from before the rule.
 */
export function visibleName(name: string): string {
  return name.replaceAll(EMOJI_OR_UNSEEN, (_, emoji: string | undefined) => emoji ?? '\ufffd');
}
