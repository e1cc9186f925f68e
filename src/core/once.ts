/** Does some work when it is first asked for, and never again once it is done; what failed is done anew when it is asked for again. */
export function once<T>(work: () => Promise<T>): () => Promise<T> {
  let doing: Promise<T> | undefined;
  return () => {
    doing ??= work().catch((error: unknown) => {
      doing = undefined;
      throw error;
    });
    return doing;
  };
}
