import type { HostMessageView, HostRequestDetail, HostRequestView } from '@gatehouse/contracts';
import type { RecordedDetail, RecordedMessage } from '@gatehouse/tunnel-kernel';
import type { Placed } from '../edge-host/fleet.service.js';

export function toRequestView(record: Placed<RecordedDetail>): HostRequestView {
  return {
    id: record.id,
    edge: record.edge,
    method: record.method,
    scheme: record.scheme,
    host: record.authority,
    path: record.target,
    http_version: record.version,
    visitor_ip: record.visitor,
    status: record.status,
    error: record.error,
    failure: record.failure,
    started_at: new Date(record.startedAt).toISOString(),
    verified_ms: record.verifiedMs,
    sent_ms: record.sentMs,
    answered_ms: record.answeredMs,
    ended_ms: record.endedMs,
    request_head_bytes: record.request.head,
    request_body_bytes: record.request.body,
    answer_head_bytes: record.answer.head,
    answer_body_bytes: record.answer.body,
    replay_of: record.replayOf,
  };
}

export function toRequestDetail(record: Placed<RecordedDetail>): HostRequestDetail {
  return {
    ...toRequestView(record),
    request: toMessageView(record.asked),
    answer: toMessageView(record.answered),
  };
}

function toMessageView(message: RecordedMessage | null): HostMessageView | null {
  return message && { headers: message.fields.map(([name, value]) => ({ name, value })), body: message.body };
}
