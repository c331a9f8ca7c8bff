import { SqlVersion } from '@gatehouse/persistence';

/** Edges hear when the health checks of a host change. */
export class AnnounceHostChecks1763668802931 extends SqlVersion {
  name = 'AnnounceHostChecks1763668802931';
  sqlChecksum = 'e53c391486a69ca8995f70bfa80de995dcb5a9916cf5d137191fe927fa4bcdc3';
}
