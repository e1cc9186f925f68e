type Undo = () => Promise<unknown>;

/** `dispose` undoes the steps in reverse order. */
export interface SetUp<T> {
  readonly made: T;
  readonly dispose: () => Promise<void>;
}

/**
 * Makes something in steps, each with its undo function. If one fails, earlier steps are undone: a
 * server left running would keep its process alive.
 */
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
