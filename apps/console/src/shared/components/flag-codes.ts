/** Countries in flags.svg. */
const DRAWN = new Set(
  (
    'AE AM AR AT AU BE BG BR CA CH CL CN CZ DE DK EE EG ES FI FR GB GR HK HU ID IE IL IN IS IT JP KR KZ LT LU LV MO MX MY NL NO NZ ' +
    'PH PL PT RO RU SA SE SG TH TR TW UA US VN ZA'
  ).split(' '),
);

export function hasFlag(code: string): boolean {
  return DRAWN.has(code);
}

/** A part of a text: as it is, or a flag that was written in it, by the code of its country. */
export type TextPart = string | { flag: string };

const REGIONAL_A = 0x1_f1_e6;
const FLAG = /([\u{1F1E6}-\u{1F1FF}]{2})/u;

/** Finds the flags in a text, which Unicode writes as two regional indicators. */
export function partsOf(text: string): TextPart[] {
  return text
    .split(FLAG)
    .filter((part) => part !== '')
    .map((part) => {
      if (!FLAG.test(part)) return part;
      const letters = Array.from(part, (sign) => String.fromCodePoint(65 + (sign.codePointAt(0) ?? 0) - REGIONAL_A));
      return { flag: letters.join('') };
    });
}
