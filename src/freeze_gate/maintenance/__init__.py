"""What its owners do with files that lie about: saying all that is wrong with them, and removing old pins."""
