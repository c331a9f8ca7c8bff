import type { OutboundGroupView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { segment } from '../../shared/api/api-client.js';
import { useApi } from '../../shared/api/api-context.js';
import { Dialog } from '../../shared/components/dialog.js';
import { Trouble } from '../../shared/components/page.js';
import { Pager } from '../../shared/components/pager.js';
import { useResource } from '../../shared/state/use-resource.js';
import { MemberList } from './member-list.js';

const ROWS = 60;

/** All members of a large group, a page at a time. */
export function GroupMembersDialog({
  name,
  onClose,
  reload,
}: {
  name: string;
  onClose: () => void;
  reload: () => void;
}) {
  const api = useApi();
  const [offset, setOffset] = useState(0);
  const {
    data,
    error,
    reload: again,
  } = useResource(
    (signal) =>
      api.get<OutboundGroupView>(
        `/outbound/groups/${segment(name)}`,
        { members_limit: ROWS, members_offset: offset },
        signal,
      ),
    [name, offset],
  );
  const both = (): void => {
    again();
    reload();
  };
  return (
    <Dialog title={`Members of ${name}`} onClose={onClose} wide>
      <Trouble error={error} retry={again} />
      {data && <MemberList group={data} members={data.members} reload={both} />}
      {data && (
        <Pager
          label="members"
          total={data.members_total}
          limit={ROWS}
          offset={offset}
          onChange={(page) => setOffset(page.offset)}
        />
      )}
    </Dialog>
  );
}
