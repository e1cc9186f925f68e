type Undo = () => Promise<unknown>;

/** What was made in steps, and what takes it down again, the last step first. */
export interface SetUp<T> {
  readonly made: T;
  readonly dispose: () => Promise<void>;
}

/** Makes something in steps, each told how it is undone; when one fails, those before it are undone, for a server that is left behind keeps its process alive. */
export async function setUp<T>(make: (onUndo: (undo: Undo) => void) => Promise<T>): Promise<SetUp<T>> {
  const undos: Undo[] = [];
  const dispose = async (): Promise<void> => {
    for (let undo = undos.pop(); undo !== undefined; undo = undos.pop()) await undo();
  };
  try {
    return { made: await make((undo) => undos.push(undo)), dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}
