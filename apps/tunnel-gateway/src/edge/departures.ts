/** Where agents of a client are, as far as this edge knows. */
export interface Whereabouts {
  /** At any edge. */
  isOnline(clientId: number): boolean;
  /** At another edge. */
  isElsewhere(clientId: number): boolean;
  /** Whether every other edge says what it has. Without a link to one, its agents are not known. */
  knowsAll(): boolean;
}

interface Departure {
  reason: string;
  /** Looks at which it was offline, one after the other. */
  looks: number;
}

/** An edge whose agent left as well reports at once. Only then is it the turn of those that it had left before. */
const PATIENT_LOOKS = 3;

/**
 * A client is offline when its last agent at any edge has left, and online when its first one has come. Each edge sees its own
 * agents come and leave, and hears of others: an agent that leaves one edge is no news as long as another edge has one.
 */
export class Departures {
  private readonly whereabouts: Whereabouts;
  private readonly report: (clientId: number, reason: string) => void;
  /** Clients whose agent left while another edge had one, or may have had one. */
  private readonly unsettled = new Map<number, Departure>();

  constructor(whereabouts: Whereabouts, report: (clientId: number, reason: string) => void) {
    this.whereabouts = whereabouts;
    this.report = report;
  }

  /** An agent has come here. False: the client was online before. */
  arrived(clientId: number): boolean {
    const wasUnsettled = this.unsettled.delete(clientId);
    return !wasUnsettled && !this.whereabouts.isElsewhere(clientId);
  }

  /** The last agent of the client at this edge has left. */
  left(clientId: number, reason: string): void {
    const { whereabouts } = this;
    if (!whereabouts.isElsewhere(clientId) && whereabouts.knowsAll()) return this.report(clientId, reason);
    this.unsettled.set(clientId, { reason, looks: 0 });
  }

  /** Must be called about every second. */
  look(): void {
    if (this.unsettled.size === 0 || !this.whereabouts.knowsAll()) return;
    for (const [clientId, departure] of this.unsettled) {
      if (this.whereabouts.isOnline(clientId)) departure.looks = 0;
      else if ((departure.looks += 1) > PATIENT_LOOKS) this.settle(clientId, departure);
    }
  }

  private settle(clientId: number, { reason }: Departure): void {
    this.unsettled.delete(clientId);
    this.report(clientId, reason);
  }
}
