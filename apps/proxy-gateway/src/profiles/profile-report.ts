import { PROFILE_SECTIONS } from '@gatehouse/contracts';
import type { ProfileOutcome, ProfileReport, ProfileSection } from '@gatehouse/contracts';
import type { ProfileRemark } from '@gatehouse/subscription-formats';
import type { StoredReport } from '../data/profile.entity.js';
import { readerText } from '../reader-text.js';
import { PROFILE_TEXTS } from '../profile-texts.js';

const SHOWN_EXAMPLES = 5;
const MAX_EXAMPLE = 120;
/** The worst outcome among the remarks about an item is its own. */
const WORST: readonly ProfileOutcome[] = ['left_out', 'replaced', 'carried'];

/** Counts the items of a profile by outcome, and collects the reasons. Its size does not depend on that of the profile. */
export class ReportBuilder {
  private readonly sections = new Map<ProfileSection, Record<ProfileOutcome, number>>();
  private readonly notes = new Map<string, StoredReport['notes'][number]>();

  add(section: ProfileSection, name: string, remarks: readonly ProfileRemark[]): void {
    const counts = this.sections.get(section) ?? { carried: 0, replaced: 0, left_out: 0 };
    this.sections.set(section, counts);
    const outcome = WORST.find((each) => remarks.some((remark) => remark.outcome === each)) ?? 'carried';
    counts[outcome]++;
    for (const remark of remarks) this.note(section, name, remark);
  }

  build(): StoredReport {
    const sections = PROFILE_SECTIONS.flatMap((section) => {
      const counts = this.sections.get(section);
      if (counts === undefined) return [];
      return [{ section, total: counts.carried + counts.replaced + counts.left_out, ...counts }];
    });
    const order = (section: ProfileSection): number => PROFILE_SECTIONS.indexOf(section);
    const notes = [...this.notes.values()].sort(
      (a, b) =>
        WORST.indexOf(a.outcome) - WORST.indexOf(b.outcome) || order(a.section) - order(b.section) || b.count - a.count,
    );
    return { sections, notes };
  }

  private note(section: ProfileSection, name: string, { outcome, reason }: ProfileRemark): void {
    const key = `${section} ${outcome} ${reason}`;
    const note = this.notes.get(key) ?? { section, outcome, reason, count: 0, examples: [] };
    this.notes.set(key, note);
    note.count++;
    const example = name.slice(0, MAX_EXAMPLE);
    if (note.examples.length < SHOWN_EXAMPLES && !note.examples.includes(example)) note.examples.push(example);
  }
}

/** With texts in the language of the request. */
export function toProfileReport({ sections, notes }: StoredReport): ProfileReport {
  return { sections, notes: notes.map((note) => ({ ...note, message: readerText(PROFILE_TEXTS[note.reason]) })) };
}
