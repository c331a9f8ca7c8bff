/** Starts what was made, and disposes of it where its start fails. */
export async function started<T extends AsyncDisposable>(made: T, start: () => Promise<void>): Promise<T> {
  try {
    await start();
    return made;
  } catch (error) {
    await made[Symbol.asyncDispose]();
    throw error;
  }
}
