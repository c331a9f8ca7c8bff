import { Omittable } from '../wire/omittable.js';
import { Whole } from '../wire/text-fields.js';

export class TunnelCheckBody {
  /** Whose target is tried, of a tunnel with several ports. Absent: the first. */
  @Omittable()
  @Whole(1, 65_535)
  port?: number;
}
