/**
 * Characters that a reader does not see, or that change the order of what is read: controls, marks of direction, joiners,
 * fillers, ends of lines, the empty Braille cell. Emoji are made with some of them and are looked at as a whole.
 */
const UNSEEN = '\\p{C}\\p{Default_Ignorable_Code_Point}\\p{Zl}\\p{Zp}\\u2800';
const EMOJI = '\\p{RGI_Emoji}';

/** A name without any of them, and with something that can be seen. */
export const VISIBLE_NAME = new RegExp(`^(?=.*\\S)(?:${EMOJI}|[^${UNSEEN}])*$`, 'v');

const EMOJI_OR_UNSEEN = new RegExp(`(${EMOJI})|[${UNSEEN}]`, 'gv');

/** A name as people see it who decide by it: what they could not see stands out. For names of before the rule. */
export function visibleName(name: string): string {
  return name.replaceAll(EMOJI_OR_UNSEEN, (_, emoji: string | undefined) => emoji ?? '\ufffd');
}
