/** A slice of work lasts this long at least, in milliseconds, so that a busy page still gets on. */
const minSliceMs = 8;
const maxWaitMs = 100;

/** Works through steps between frames, the first slice at once; stops when the signal aborts. */
export function runInSlices(
  steps: Iterator<unknown, unknown, void>,
  firstSliceMs: number,
  signal: AbortSignal,
): void {
  const slice = (remaining: () => number): void => {
    if (signal.aborted) return;
    do {
      if (steps.next().done === true) return;
    } while (remaining() > 0);
    requestIdleCallback(
      (deadline) => {
        const until = performance.now() + minSliceMs;
        slice(() => Math.max(deadline.timeRemaining(), until - performance.now()));
      },
      { timeout: maxWaitMs },
    );
  };
  const until = performance.now() + firstSliceMs;
  slice(() => until - performance.now());
}
