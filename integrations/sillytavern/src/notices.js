// Problems are said once, in a corner of the screen, until the hub answers again.

export class Notices {
    constructor(show) {
        this.show = show;
        this.said = new Set();
    }

    problem(error) {
        const kind = error.kind ?? 'bug';
        console.warn(`Plastic Memories: ${kind} ${error.status || ''}`);
        if (this.said.has(kind)) return;
        this.said.add(kind);
        this.show(error);
    }

    success() {
        this.said.clear();
    }
}
