/** The answer of `read`; null if it fails or takes longer. */
export async function answerWithin<T>(milliseconds: number, read: () => Promise<T>): Promise<{ value: T } | null> {
  const late = Promise.withResolvers<null>();
  const timer = setTimeout(() => late.resolve(null), milliseconds);
  try {
    return await Promise.race([read().then((value) => ({ value })), late.promise]);
  } catch {
    return null;
  } finally {
    clearTimeout(timer);
  }
}
