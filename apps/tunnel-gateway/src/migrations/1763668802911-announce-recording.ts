import { SqlVersion } from '@gatehouse/persistence';

/** Edges hear when recording of requests changes. */
export class AnnounceRecording1763668802911 extends SqlVersion {
  name = 'AnnounceRecording1763668802911';
  sqlChecksum = '7152f5692be5feb640b184bac32e31ff63dd2fe5a153a33b81bcdb5df97536e7';
}
