const HEADER_BYTES = 12;
const QUESTION_TAIL_BYTES = 4;

/** An answer to a DNS question of one name (RFC 1035): one record of type A. */
export function answerName(question: Buffer, address: readonly [number, number, number, number]): Buffer {
  const end = question.indexOf(0, HEADER_BYTES) + 1 + QUESTION_TAIL_BYTES;
  const header = Buffer.from(question.subarray(0, HEADER_BYTES));
  header.writeUInt16BE(0x8180, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(1, 6);
  header.writeUInt32BE(0, 8);
  // The name by reference, type A, class IN, 60 seconds, four bytes.
  const record = Buffer.from([0xc0, HEADER_BYTES, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...address]);
  return Buffer.concat([header, question.subarray(HEADER_BYTES, end), record]);
}
