import {
  DialError,
  ForbiddenTargetError,
  RejectedError,
  type ConnectionRecord,
  type ErrorStage,
  type FlowOutcome,
} from '../interfaces/index.js';
import { errorCode, errorKind } from '../transport/dial-error.js';

type FlowStatus = Pick<
  ConnectionRecord,
  'status' | 'errorStage' | 'errorKind' | 'errorErrno' | 'errorMessage' | 'closeReason'
>;

/** What a record says of how a flow ended. `stage` is where it was when something was thrown. */
export function flowStatus({ closeReason, error }: FlowOutcome, stage: ErrorStage): FlowStatus {
  if (error instanceof ForbiddenTargetError)
    return { ...NO_ERROR, status: 'rejected', closeReason: 'rejected', errorMessage: error.message };
  if (error instanceof RejectedError) return { ...NO_ERROR, status: 'rejected', closeReason: 'rejected' };
  if (closeReason === 'rejected') return { ...NO_ERROR, status: 'rejected', closeReason };
  // A client that leaves and a person who closes are no failures, whatever error that caused on the way out.
  if (error === undefined || error === null || closeReason !== 'error')
    return { ...NO_ERROR, status: 'ok', closeReason };
  return {
    status: 'failed',
    closeReason,
    errorStage: error instanceof DialError ? error.stage : stage,
    errorKind: errorKind(error),
    errorErrno: errorCode(error),
    errorMessage: error instanceof Error ? error.message : 'unknown error',
  };
}

const NO_ERROR = { errorStage: null, errorKind: null, errorErrno: null, errorMessage: null } as const;
